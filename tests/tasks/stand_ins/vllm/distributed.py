"""vLLM's own way to give memory back."""

cleaned: list[bool] = []


def cleanup_dist_env_and_memory(shutdown_ray: bool = False) -> None:
    cleaned.append(True)
