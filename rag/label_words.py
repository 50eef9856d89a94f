"""Word lists for labels: what praises, what is common, what only joins."""

from __future__ import annotations


def _words(text: str, separator: str | None = None) -> frozenset[str]:
    """Return the words of a block of text, or its phrases when there is a separator."""
    return frozenset(" ".join(word.split()) for word in text.split(separator))


AGENT = _words(
    """
    also and article further here i paper study then thus we work
    """
)
"""Words that stand before a verb when the paper itself is the subject."""

PREPOSITION = _words(
    """
    across against and are at based between built by can extending for from has have in inspired into is
    leveraging like of on or over than that through to under using via when where which while whose with
    without
    """
)
"""What comes after these is not what the verb brings: "a method for ImageNet"."""

KIND = _words(
    """
    agent algorithm algorithms approach architecture attack benchmark class corpus dataset datasets
    defense environment estimator extension family framework layer learning library loss measure
    mechanism method methods metric model models module network networks optimizer package paradigm
    pipeline platform procedure protocol scheme simulator solver strategy suite system technique theory
    tool toolkit training variant
    """
)
"""What papers bring, by kind."""

ACHIEVES = _words(
    """
    achieve achieves applies attains combines consistently consists derives employs enables exceeds
    exhibits extends generalizes improves is learns leverages matches obtains outperform outperforms
    provides reduces scales shows significantly surpasses uses
    """
)
"""Verbs after a method's name that opens a sentence."""

COMMON = _words(
    """
    1D 2D 3D 4D A AI API APIs arXiv ASR BERT CNN CNNs CoT COVID-19 CPU CPUs CT CV DL DNA DNN DNNs DPO
    EEG EU fMRI GAN GANs GD GitHub Github GNN GNNs GPT GPU GPUs GRPO HTML I ICLR ICML II IID III
    ImageNet IV KL LLM LLMs LM LMs LSTM LVLM LVLMs MCMC MDP MDPs ML MLLM MLLMs MLP MLPs MoE MRI NeurIPS
    NLP NMT NP OCR ODE ODEs OOD PCA PDE PDEs PDF POMDP PPO PyTorch QA RAG ReLU RL RLHF RLVR RNA RNN RNNs
    SDE SDEs SFT SGD SOTA SVM SVMs TensorFlow TPU UK URL US USA V VAE VAEs VI ViT ViTs VLM VLMs VQA
    """
)
"""Names that stand for what everybody uses; none of them is the name of the paper at hand."""

STOP = _words(
    """
    a ability able about above accuracy achieve achieved achieves achieving across actually addition
    additional address after again against aim all allow allows almost already also although always am
    among an analyse analysis analyze and another any application applications applied apply applying
    approach approaches are aren't around as ask asked assume assumed assumes assumption at attention
    available away based be became because become becomes becoming been before being below benchmark
    benchmarks best better between both but by can can't cannot capture captured captures case cases
    central certain challenge challenges challenging code common commonly compare compared comparison
    complex consider considered consistent consistently contrast contribution contributions could
    critical crucial current currently data dataset datasets demonstrate demonstrated demonstrates
    design designed despite develop developed did different difficult direct directly do does doesn't
    doing don't done due during e.g each easily effect effective effectively efficient efficiently
    either emerged empirical empirically enable enables end enough especially essential establish
    establishes etc evaluate evaluated evaluation evaluations even ever every exhibit existing
    experiment experiments explore extensive fail failing fails failure far few finally find findings
    first five focus following for formalize four framework from fully fundamental further furthermore
    future gained general generally generate generates given gives goal good great ground growing had
    hard has have having he help hence her here high higher highly his how however i i.e identifies
    identify if important improve improved improves improving in including increase increasingly indeed
    information inherently instead into introduce introduced introduces introducing investigate involve
    involves involving is issue it its itself just key known lack lacking lacks large largely larger
    last lead leading leads learned learning least less leveraging like limitations limited little long
    low lower made main mainly make makes making many may means method methods might minimal model
    models more moreover most mostly much multiple must natural near nearly necessary need needs neither
    new no nor not notably novel now number observe obtain obtained of offer offering offers often on
    once one only onto open opposed or order other others otherwise our out outperform outperforms over
    overall own paper papers part particular particularly per perform performance performs perspective
    poor popular possible potential potentially practical practice precise present presented presents
    prevents previous previously prior problem problems process processes progress promising propose
    proposed proposes provably prove proven proves provide provided provides question questions quite
    rapid rapidly rather real recent recently reduce reduced reducing related relevant relies rely
    remain remains remarkable report reports require required requires respectively result resulting
    results reveal reveals robust role same second serve served serves set setting settings several
    shall she shed should show showed showing shown shows significant significantly similar simple
    simply since single small so solution solve solving some specific specifically standard state
    state-of-the-art still strategy strong studies study substantial substantially success successful
    such suffer suffers suggest suggests superior support systematically target task tasks technique
    techniques term terms than that the their them themselves then theoretical theoretically theory
    there therefore these they third this those though three through thus time times to today together
    too towards train trained training two types typical typically ubiquitous unclear under underlying
    understand understanding unknown unlike until up upon us use used useful uses using usually validate
    variety various very via vs want was way ways we we're well were what when whereas whether which
    while whole whose wide widely widespread will with within without work works world would yet you
    your
    """
)
"""Words that no subject is made of: function words, and the words all abstracts share."""

VAGUE = _words(
    """
    and but comprehensive easy-to-use effective efficient end-to-end fast first flexible general generic
    high-quality highly large-scale lightweight more new novel plug-and-play powerful practical
    principled provably rigorous robust scalable simple so-called surprisingly systematic theoretically
    three two unified very yet
    """
)
"""Words before a noun that praise and do not tell."""

HEADS = _words(
    """
    accuracy analysis applications benchmark benchmarks data dataset datasets evaluation information
    learning model models network networks policy problem problems process processes question questions
    task tasks theory time training
    """
)
"""Nouns that tell nothing alone; they end a phrase and do not begin one."""

GENERIC = _words(
    """
    artificial intelligence | computer vision | convergence rate | convolutional neural network |
    convolutional neural networks | deep learning | deep neural | deep neural     networks | deep neural
    network | deep reinforcement learning | downstream tasks | foundation models | generative model |
    generative models | gradient descent | graph neural network | graph neural networks |
    high-dimensional | inductive bias | inductive biase | language model | language models | large
    language | large language model | large language models | loss function | lower bound | lower bounds
    | machine learning | natural language | natural language processing | neural net | neural network |
    neural networks | numerical experiments | real-world | reinforcement learning | representation
    learning | sample complexity | state-of-the-art | stochastic gradient descent | supervised learning
    | training data | training data point | upper bound | upper bounds | vision-language model |
    vision-language models
    """,
    "|",
)
"""Subjects of half of all papers, lower case."""

GENERIC_NAMES = _words(
    """
    Across AI Although Based Both By CNN CNNs Code CV Deep DL DNN DNNs Each Empirically Existing
    Experiments Extensive Finally For Furthermore GNN GNNs GPT GPU GPUs Here However II III ImageNet In
    It Its Large LLM LLMs LM LMs LVLM LVLMs ML MLLM MLLMs Models Moreover Neural NLP NN NNs On Our
    Recent RL RNN RNNs SOTA Specifically The Their Theoretically These This Through To Under Unlike
    Using VLM VLMs We While With
    """
)
"""Capitalised words and short forms that are no subject."""
