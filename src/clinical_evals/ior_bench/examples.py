"""The written examples of few-shot prompts: invented dialogues with their department, none of them in the sample.

Lists of departments differ from hospital to hospital. So each example knows its department by several names, and only
examples whose department is in the list are shown. They are part of the prompt: see `prompts.PROMPT_VERSION`.
"""

from collections.abc import Sequence

from clinical_evals.ior_bench.prompts import Example

_P, _D = "patient", "doctor"


def _example(names: str, *turns: tuple[str, str]) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    return tuple(names.split()), [{"role": role, "content": content} for role, content in turns]


_WRITTEN = (
    _example(
        "消化内科 消化科 胃肠内科 内科",
        (_P, "这半个月老反酸，吃完饭胃口这里烧得慌"),
        (_D, "躺下或者弯腰的时候会更明显吗？大便颜色正常吗？"),
        (_P, "躺平了酸水就往嗓子眼冒，大便正常，体重也没掉，今年41"),
    ),
    _example(
        "骨科 创伤骨科 骨伤科 外科",
        (_D, "您好，请问哪里不舒服？"),
        (_P, "昨天下楼踩空，脚踝外侧崴了，肿得像馒头"),
        (_D, "还能踩地走路吗？以前受过伤没有？"),
        (_P, "一踩地就疼，得扶着墙，以前没伤过"),
    ),
    _example(
        "皮肤科 皮肤性病科 皮肤病科",
        (_P, "胳膊弯和腿弯一片一片的红疙瘩，痒得睡不着"),
        (_D, "起了多久？有没有换过洗衣液、吃过新的药？"),
        (_P, "断断续续两年了，一到冬天就犯，没换过什么"),
    ),
    _example(
        "呼吸内科 呼吸科 呼吸与危重症医学科 内科",
        (_P, "我爸七十了，抽了几十年烟，一变天就咳得厉害，爬两层楼就喘"),
        (_D, "痰是什么颜色？夜里能平躺睡吗？腿肿不肿？"),
        (_P, "白痰，早上多，能平躺，腿不肿"),
    ),
    _example(
        "眼科",
        (_P, "右眼前面有黑影飘，像小虫子，今天还闪光"),
        (_D, "看东西有没有被遮住一块？近视多少度？"),
        (_P, "没遮住，近视八百多度"),
    ),
    _example(
        "心血管内科 心内科 心血管科 内科",
        (_P, "最近快走一阵胸口就发闷发紧，停下来三五分钟就好了"),
        (_D, "闷的时候会不会牵到左肩或者后背？血压高吗？"),
        (_P, "左肩膀跟着酸，高血压十来年了，我今年六十二"),
    ),
    _example(
        "内分泌科 内分泌代谢科 内科",
        (_D, "您好，请描述一下您的不适。"),
        (_P, "口干，一天喝好几壶水，尿也多，两个月瘦了十来斤"),
        (_D, "家里有人得糖尿病吗？手抖、怕热吗？"),
        (_P, "我妈有糖尿病，手不抖，也不怕热"),
    ),
    _example(
        "神经内科 神经科 内科",
        (_P, "左边太阳穴一跳一跳地疼，见光就烦，想吐"),
        (_D, "多久发作一次？手脚有没有麻木、没力气？"),
        (_P, "一个月两三回，每次大半天，手脚都好好的，上大学就有了"),
    ),
    _example(
        "耳鼻咽喉科 耳鼻喉科 耳鼻咽喉头颈外科 五官科",
        (_P, "鼻子堵了快一个月，左边流黄脓鼻涕，脑门发胀"),
        (_D, "闻味道灵不灵？发烧吗？"),
        (_P, "闻不太出来，不烧"),
    ),
    _example(
        "泌尿外科 外科",
        (_P, "半夜突然右边腰一阵一阵绞着疼，疼得打滚"),
        (_D, "疼的时候往哪儿走？小便什么颜色？"),
        (_P, "往大腿根那边走，小便发红，去年体检说肾里有小石头"),
    ),
    _example(
        "妇科 妇产科",
        (_P, "两次月经中间老是滴滴拉拉出血，快三个月了"),
        (_D, "您多大年纪？可能怀孕吗？肚子疼不疼？"),
        (_P, "三十八，上了环，不可能怀，小肚子有点坠"),
    ),
    _example(
        "儿科 小儿内科",
        (_P, "我家孩子四岁，发烧两天，最高39度2，嗓子疼不肯吃饭"),
        (_D, "身上有没有疹子？精神怎么样？"),
        (_P, "没疹子，退了烧还能玩"),
    ),
    _example(
        "风湿免疫科 风湿科",
        (_P, "两只手的小关节对称地肿，早上僵一个多钟头才能活动开"),
        (_D, "持续多久了？脸上有红斑或者怕晒吗？"),
        (_P, "四个多月，没有红斑"),
    ),
    _example(
        "肾内科 肾病科 肾脏内科",
        (_P, "早上起来眼皮肿，尿里好多泡沫，半天不散"),
        (_D, "最近感冒过吗？尿色有没有变深？"),
        (_P, "没感冒，体检报告写着尿蛋白三个加号"),
    ),
)


def written_examples(candidates: Sequence[str]) -> list[Example]:
    """The examples whose department is among the candidates, by the first of its names that is; in a fixed order."""
    offered = set(candidates)
    found = []
    for names, dialogue in _WRITTEN:
        department = next((name for name in names if name in offered), None)
        if department is not None:
            found.append(Example(dialogue, department))
    return found
