"""By which words a turn of the simulated patient is known to ask, or to be a doctor's (protocol.md 1.3: break rate).

The cues are Chinese, as the task is, and folded (`department_names.fold`). They are meant to be certain rather than
complete: what a patient may say to a doctor (您看我该怎么办, 您帮我挂骨科吧, 之前的医生建议我复查, 祝您工作顺利) is
none of them, and about half of a doctor's turns have one.
"""

import re

_YOU = "[您你]"

QUESTION = re.compile(r"\?|吗(?=[。!~\s]|\Z)")
"""A question: its mark, or 吗 at the end of a sentence without one."""

DOCTOR_LABEL = re.compile(
    r"^[ \t\u3000]*+[【\[*]*+(?:导诊(?:员|人员|助手)?|[医醫](?:生|师|師)|大夫|护士|doctor|nurse)[】\]*]*+[ \t]*+[:：]",
    re.IGNORECASE | re.MULTILINE,
)
"""In a raw answer: a line that the model writes as the other side's. `assistant` and `user` do not tell the side."""

DOCTOR_SPEECH = re.compile(
    # Asks the other side about its illness.
    rf"请问{_YOU}(?!对|看|能|认为|觉得|可以)"
    rf"|{_YOU}[^我,，。]{{0,8}}哪里(?:不舒服|不适|疼|痛|难受)"
    rf"|{_YOU}(?:有没有|是否|平时|以前|之前|最近)[^我,，。]{{0,10}}"
    r"(?:疼|痛|发热|发烧|咳|晕|恶心|呕吐|症状|不适|不舒服|病史|过敏|怀孕|吃过|服用|做过)"
    rf"|{_YOU}还有[^我,，。]{{0,6}}(?:症状|不适|不舒服)"
    rf"|{_YOU}今年多大|{_YOU}[^我,，。]{{0,6}}多(?:久|长时间)了"
    # Advises it.
    rf"|建议{_YOU}|(?<![给帮为跟对])我(?:会|的)?(?:建议|推荐)(?!我)"
    rf"|{_YOU}(?:应该|应当|最好|务必|不用担心|无需担心)"
    rf"|{_YOU}(?:需要|可以|得|要)(?:先|尽快|及时|立即|马上|直接)?(?:去|到|挂|做|住院|就医|就诊|注意)"
    rf"|(?:请|{_YOU})(?:{_YOU})?(?:先|直接|尽快|及时|就)?(?:到|去|来|前往)?挂(?!什么|哪)[^,，。]{{0,10}}(?:科|号|急诊)"
    rf"|请{_YOU}?(?:先|尽快|及时|立即|直接)?(?:到|去|前往)[^我,，。]{{0,12}}(?:科|急诊|门诊)"
    rf"|(?:请|建议|应|最好){_YOU}?(?:及时|尽快|立即)(?:到医院|去医院)?就(?:医|诊)"
    rf"|{_YOU}的(?:症状|病情|病史)|{_YOU}可能(?:是|患|得了|存在|需要)|祝{_YOU}?早日康复|随时(?:向我咨询|联系我)"
    rf"|(?:给|帮|为){_YOU}(?:开(?:点|些|个|一)|安排|检查|做个|转诊|推荐|分析|诊断|解答)"
    rf"|请{_YOU}?(?:再)?(?:详细)?(?:描述|说明|补充)"
    # Says that it is no patient.
    r"|我是(?:一[名个位])?(?:医院的?|您的|你的)?(?:导诊|ai|人工智能|(?:大型?)?语言模型)"
    r"|作为(?:一[名个位])?(?:导诊|ai|人工智能|(?:大型?)?语言模型)"
)
"""A doctor's words: asks the other side about its illness, advises it, or says that it is the hospital's guide."""

REPORTED = re.compile(
    r"(?:医生|医师|大夫|护士|专家|朋友|同事|邻居|亲戚|家里?人|老公|老婆|丈夫|妻子|爱人|儿子|女儿|[爸妈]{1,2}|父亲|母亲|(?<!其)[他她]们?|人家)"
    r"[^:,，]{0,6}(?:说|讲|问|让|叫|告诉|要求|建议|推荐)"
)
"""What someone else said, as a patient tells it; it opens a sentence in which no doctor speaks."""
