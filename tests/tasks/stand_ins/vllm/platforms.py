"""Which kind of device vLLM would run on."""


class _Platform:
    def is_cpu(self) -> bool:
        return False


current_platform = _Platform()
