"""Names of laboratory tests as they are written in orders: a table of words, in lower case."""

from clinical_evals.matching.answer_words import word_set

ANALYTES = word_set(
    "na na+ sodium k k+ potassium cl chloride co2 hco3 bicarb bicarbonate bun urea cr creat creatinine glucose glu ca "
    "calcium mg magnesium phos phosphate phosphorus wbc wbcs rbc rbcs hgb hb hemoglobin haemoglobin hct hematocrit "
    "plt "
    "plts platelet platelets inr pt ptt aptt pt/inr pt/ptt ast alt alp alkp ggt bili tbili bilirubin albumin protein "
    "lactate troponin troponins trop tnt tni bnp nt-probnp probnp ck cpk ck-mb ckmb a1c hba1c tsh t3 t4 ft4 ph pco2 "
    "po2 "
    "paco2 pao2 esr crp lipase amylase ldl hdl cholesterol triglycerides ferritin iron tibc transferrin egfr "
    "procalcitonin d-dimer ldh ammonia mcv mch mchc rdw mpv fibrinogen haptoglobin reticulocytes osmolality cortisol "
    "neutrophils lymphocytes monocytes eosinophils basophils bands folate b12 c3 c4 ua abg vbg cbc bmp cmp lfts "
    "psa cea afp hcg bhcg ana anca rf hiv rpr vancomycin digoxin phenytoin lithium tacrolimus acetaminophen "
    "salicylate "
    "ethanol urinalysis leukocytes erythrocytes"
)
"""Tests by one word: abbreviations and names."""
_NAMES = (
    "alkaline phosphatase;total bilirubin;direct bilirubin;bilirubin total;total protein;white blood cells;"
    "white blood cell count;white count;red blood cells;red blood cell count;red cell count;platelet count;"
    "anion gap;urea nitrogen;blood urea nitrogen;ionized calcium;troponin t;troponin i;creatine kinase;free t4;"
    "hemoglobin a1c;c-reactive protein;sed rate;base excess;free calcium;uric acid;blood glucose;"
    "carbon dioxide;vitamin b12;vitamin d;ca 19-9;ca 125;ca 15-3;ca 27.29;ca 72-4;prothrombin time;"
    "partial thromboplastin time;lactic acid;lactate dehydrogenase;total calcium"
)
NAMES = frozenset(_NAMES.split(";"))
"""Tests by several words."""
PANELS = word_set(
    "bmp cmp cbc lfts lft panel profile electrolytes coags coagulation chemistry chemistries chem7 chem10 chem20 "
    "hematology differential diff gas abg vbg studies tests labs enzymes count"
)
"""Words of tests that are several tests."""
SPECIMENS = word_set(
    "serum plasma blood urine csf stool sputum arterial venous capillary total direct indirect ionized free random "
    "spot fasting timed 24 hour hr 24-hour quantitative qualitative level whole body pleural ascitic peritoneal "
    "synovial "
    "fluid automated manual screen conjugated unconjugated with differential reflex high"
)
"""After a comma these say of which specimen or kind the test before it is: "Troponin T, serum"."""
NUMBERED = frozenset({("ca", "125"), ("ca", "19"), ("ca", "15"), ("ca", "27"), ("ca", "72"), ("t", "3"), ("t", "4")})
"""Names whose number is no value."""
