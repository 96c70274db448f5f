"""What our repositories on the Hub say of themselves, all of it written from one set of facts.

    facts              the types, the papers and where things are on the Hub
    dataset_facts      the two datasets: names, tags, data statement, limits
    metric_facts       the two metrics and their Spaces
    texts/*.md         the prose of the cards, with $places for what follows from facts and data
    front_matter       configs, features, splits and sizes as a card's YAML has them
    sample_card        the cards of the embedded samples
    built_card         those of what `clinical-evals build` writes; croissant.json beside it is from `croissant`
    metric_card        the cards and requirements of the metric Spaces
    eval_yaml          eval.yaml, by which a dataset becomes a benchmark on the Hub
    model_facts        what a card of a trained model says of its training rows

`python -m clinical_evals.hub.cards` writes the files of the repository anew; a test holds them to it.
"""
