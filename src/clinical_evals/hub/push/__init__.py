"""`clinical-evals push`: a folder becomes one commit of a repository on the Hub, complete or not at all."""
