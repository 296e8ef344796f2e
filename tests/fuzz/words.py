"""What the inputs of each target are made of: fuzzers put these together. A ␤ is the end of a line, a ␠ a space."""

from __future__ import annotations

_WORDS = {
    "json": r"""
        " \u0000 \ud800 \udc00 [ ] { } : , 1e999 -0.0 NaN 9223372036854775808 \" \ null true [], {"a":1}
    """,
    "definition_yaml": r"""
        penstock:␠1␤ name: steps: task: after: { } [ ] &a *a !!python/object:x <<: emits: with: retries: source: ${ |␤
        >-␤ 0o17 -1 1_0 ~ ---␤ ? 1s external: from: verify: params: labels: timeout: when: - data. decide webhook kind:
    """,
    "definition_json": r"""
        "penstock":1 "name" "steps" "task" "after" "with" "emits" { } [ ] "${ null "source" "external" "params" "type"
        1e5 -0.0 "x-a" "view" "labels" "retries" "timeout" "1s" "title" true
    """,
    "expressions": r"""
        data tags . [ ] ( ) && || == != <= in ? : has( size( .all(x, .exists(x, .map(x, .filter(x, .matches(' timestamp(
        duration( int( double( string( 9223372036854775807 1e308 null true - % / ' r' b' \u 0x 1u ${ } data.b data.s
        .getHours("Europe/Berlin") "(a+)+$" .startsWith( .split( .join( .replace( "1h" + * ,
    """,
    "cloudevents": r"""
        ce-specversion:1.0␤ ce-id: ce-source: ce-type: ce-time: content-type: "specversion":"1.0" "data_base64" "data"
        "id" "source" "type" webhook-request-origin: a.example webhook-request-rate: 2026-03-01T12:00:00Z
        %F0%9F text/plain ␤␤ "time" "subject" [ ] { } : , null application/json
    """,
    "signatures": r"""
        webhook-id: webhook-timestamp: webhook-signature: v1, v1a, x-hub-signature-256: sha256= x-github-delivery:
        x-signature: authorization: Bearer x-key: 1772366400 ␤␤ ␤ = AAAA
    """,
    "notifications": r"""
        "Records" "eventName" "ObjectCreated:Put" "s3:ObjectRemoved:Delete" "s3" "bucket" "name" "object" "key" "size"
        "versionId" "sequencer" "Event" "s3:TestEvent" "detail" "detail-type" "Object␠Created" "event_type" "create"
        "/buckets/b/k" %2B %FF + "eventSource" "ceph:s3" "eTag" { } [ ] : , "message" "new_entry" "attributes" "mtime"
    """,
    "letters": r"""
        "Type" "Notification" "SubscriptionConfirmation" "TopicArn" "arn:aws:sns:eu-west-1:123456789012:transcoded"
        "SigningCertURL" "https://sns.eu-west-1.amazonaws.com/a.pem" "Signature" "SignatureVersion" "Timestamp"
        "MessageId" "Message" "Token" "SubscribeURL" @ # %2e .evil.io 2026-03-01T12:00:00Z "1" "2" : , { }
    """,
    "clocks": r"""
        * / - , L # SUN JAN @daily 29 2 ␤Europe/Berlin ␤America/New_York ␤Australia/Lord_Howe 5 31 ␤../etc LW 1W 59 23 7
        ␤Etc/GMT+5
    """,
    "addresses": r"""
        https:// http:// ok.example a.fine.example 10.9.0.1 127.0.0.1 [::1] [::ffff:10.9.0.1] @ \ # ? %2e %00 :80 /
        2852039166 0x7f.1 。 ␤ [ ] xn-- : ; %25 ..
    """,
    "imports": r"""
        WorkflowConfig( JobConfig( inputs= ' [ ] ( ) { } : '%(a)s' "nodes" "links" "models" "type" "script" == lambda
        f'{x}' ␤ = , [{ }] None timedelta( \x00 1e999
    """,
}

WORDS = {
    name: [word.replace("␤", "\n").replace("␠", " ") for word in text.split()]
    for name, text in _WORDS.items()
}
