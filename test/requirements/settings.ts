import type { Requirement } from '../requirements.ts';

export const settings = {
  'contracts.url.hot': ['done', 'A URL with letters beyond ASCII is one, however often that was asked.'],
  'settings.unknown-key.refused': [
    'done',
    'An unknown key stops the load with its line, its path and the nearest known key.',
  ],
  'settings.unknown-key.nearest': [
    'done',
    'The suggested key is right across case, separators and one-letter mistakes.',
  ],
  'settings.unknown-key.comments': [
    'done',
    'Keys beginning with x- are comments, except where names are data.',
  ],
  'settings.unknown-key.lenient': ['done', 'unknownKeys: warn relaxes unknown keys and no other rule.'],
  'settings.wrong-type.refused': [
    'done',
    'A wrong type is told in the words of the file, with a way to correct it.',
  ],
  'settings.diagnostics.no-values': ['done', 'No diagnostic repeats a value of the file.'],
  'settings.snapshot.frozen': ['done', 'Loaded settings are frozen all the way down.'],
  'settings.built-in.everything': [
    'done',
    'Without a file the reference server runs, with no domain to fetch from.',
  ],
  'settings.load.never-throws': [
    'done',
    'Loading answers with settings or diagnostics for any text and never throws.',
  ],
  'settings.yaml.bomb': [
    'done',
    'Aliases that multiply or contain themselves are refused in bounded time and memory.',
  ],
  'settings.yaml.too-large': [
    'done',
    'A file too large in bytes, lines, lexemes, values or keys is refused before it costs much time or memory.',
  ],
  'settings.yaml.too-deep': ['done', 'A file nested too deeply is refused before it can exhaust the stack.'],
  'settings.yaml.duplicate-key': ['done', 'A key given twice is refused with the line of the second.'],
  'settings.yaml.prototype-keys': ['done', 'Keys that touch a prototype are refused wherever they stand.'],
  'settings.yaml.syntax': ['done', 'What is not one plain YAML mapping is refused with its line.'],
  'settings.examples.load': [
    'done',
    'Every example file, and the file to start from, loads without a warning.',
  ],
  'settings.schema.agrees': [
    'done',
    'The JSON Schema for editors accepts our examples and refuses what loading refuses.',
  ],
  'settings.librechat.all-sections': [
    'done',
    'A file with every section of LibreChat loads, each unused key named once.',
  ],
  'settings.generated.current': ['done', 'Schema, references and .env.example are what the sources say.'],
  'settings.generated.complete': ['done', 'Every variable, error code and section is described.'],
  'settings.websocket.no-sign-in': ['done', 'Sign-in over a websocket, which cannot work, is refused.'],
  'settings.names.refused': ['done', 'Server names that routes or URLs cannot hold are refused.'],
  'settings.names.collision': ['done', 'Two server names with one normalised form are refused, naming both.'],
  'settings.transport.inferred': [
    'done',
    'The transport of a definition without type is the one an existing file relies on.',
  ],
  'settings.transport.mixed': [
    'done',
    'A definition that mixes transports, or whose url does not fit its transport, is refused.',
  ],
  'settings.timeouts.zero': ['done', 'A timeout of zero is an error.'],
  'settings.titles': ['done', 'Titles take any script; icons cannot run anything.'],
  'settings.obo.transport': ['done', 'On-Behalf-Of on a process or a websocket is refused.'],
  'settings.obo.conflict': ['done', 'On-Behalf-Of next to another credential is refused.'],
  'settings.obo.shape': ['done', 'On-Behalf-Of needs scopes, and no part of it is chosen by user data.'],
  'settings.obo.address': [
    'done',
    'The address an exchanged token goes to is fixed, and one of the targets where there are any.',
  ],
  'settings.oauth.client': ['done', 'An OAuth client is complete or absent.'],
  'settings.api-key.shape': ['done', 'An API key of the operator is there, in a header that can carry it.'],
  'settings.headers': ['done', 'Configured headers have names and values that cannot break a request.'],
  'settings.variables.declared': [
    'done',
    'Only declared user variables can be named, and none can pass for a trusted one.',
  ],
  'settings.variables.unset': [
    'done',
    'An unset environment variable is an error that names field and variable.',
  ],
  'settings.variables.secret': [
    'done',
    'Secrets of the gateway are refused in every field that expands variables.',
  ],
  'settings.variables.trusted-fields': [
    'done',
    'Program, directory and proxy are never chosen by user data.',
  ],
  'settings.url.authority': ['done', 'A placeholder cannot choose scheme, port or part of a host name.'],
  'settings.placeholders.found': ['done', 'Every placeholder that decides the scope of a server is found.'],
  'settings.addresses.syntax': [
    'done',
    'Entries of the address and domain lists that could never match are refused.',
  ],
  'settings.template.kinds': ['done', 'Every kind of placeholder is recognised, other braces are text.'],
  'settings.template.malformed': ['done', 'What looks like a placeholder and is none is an error.'],
  'settings.template.several-variables': ['done', 'Several variables in one text all expand.'],
  'settings.template.env-default': ['done', 'Defaults of variables work as in a shell.'],
  'settings.template.secret-variables': ['done', 'A secret variable is never expanded.'],
  'settings.template.env-is-text': ['done', 'An environment value that looks like a placeholder stays text.'],
  'settings.template.literal-values': ['done', 'Values are inserted byte for byte.'],
  'settings.template.no-rescan': ['done', 'An inserted value is never scanned for placeholders.'],
  'settings.template.unresolved': [
    'done',
    'A missing value is an error, never blank and never the placeholder itself.',
  ],
  'settings.template.trusted-names': [
    'done',
    'A stored variable cannot stand in for the identity of the user.',
  ],
  'settings.template.header-values': [
    'done',
    'A line break in a header value is an error; text beyond Latin-1 is encoded.',
  ],
  'settings.template.url-parsable': [
    'done',
    'A value that makes a URL unreadable is a failure that names its placeholder.',
  ],
  'settings.template.url-values': ['done', 'A value cannot leave its place in a URL.'],
  'settings.template.unfinished': [
    'done',
    'A garbled or unfinished variable or placeholder stops the load and never passes as text.',
  ],
  'settings.template.url-segments': [
    'done',
    'A value never becomes a dot segment of a path, and one that no URL can hold is a typed failure.',
  ],
  'settings.permissions.defaults': ['done', 'ADMIN has every permission by default, USER only USE.'],
  'settings.permissions.explicit': [
    'done',
    'Only permissions the file names override stored ones, and ADMIN only by its own key.',
  ],
  'settings.permissions.acl': ['done', 'ACL bits and named sets are those of LibreChat.'],
  'env.defaults': ['done', 'An empty environment starts the default.'],
  'env.strict': ['done', 'A bad or incomplete environment is told by variable, reason and suggestion.'],
  'env.no-secret-in-diagnostics': ['done', 'No value of a variable stands in a diagnostic.'],
  'env.misspelt': ['done', 'A misspelt variable of ours is an error with the nearest name.'],
  'env.librechat': ['done', 'An existing .env carries over; what is not honoured is named.'],
  'env.redis-ca': ['done', 'An authority for a Redis without TLS is told by name and without the password.'],
  'env.keys': ['done', 'Keys are well formed, may be several, and are not publicly known.'],
  'env.proxies': ['done', 'Proxy variables follow the custom of lower and upper case, and are secrets.'],
} as const satisfies Record<string, Requirement>;
