import type { Requirement } from '../requirements.ts';

export const upstream = {
  'stdio.environment.exact': ['done', 'A stdio server gets exactly the environment that was given.'],
  'stdio.output.stderr': ['done', 'The stderr of a stdio server arrives line by line, bounded.'],
  'stdio.output.garbage': [
    'done',
    'Garbage on stdout neither breaks the messages after it nor fills the memory.',
  ],
  'stdio.send.delivered': ['done', 'What is sent to a stdio server arrives whole.'],
  'stdio.send.ended': ['done', 'Sending to a stdio server that ended, or never began, is an error.'],
  'stdio.close.idempotent': ['done', 'A stdio server can be closed at any time and any number of times.'],
  'stdio.close.gentle': ['done', 'A stdio server that ends by itself is not killed.'],
  'stdio.close.grace': ['done', 'A stdio server that does not end gets SIGTERM and then SIGKILL.'],
  'stdio.close.group': ['done', 'What a stdio server started ends with it.'],
  'stdio.close.escaped': ['done', 'A process that left the group of a stdio server holds no closing up.'],
  'stdio.upstream.reference': ['done', 'The reference server lists its tools and answers over stdio.'],
  'stdio.upstream.cancelled': ['done', 'Giving up a call releases the caller and leaves the server usable.'],
  'stdio.upstream.ended': ['done', 'The end of a stdio server rejects what waits for it.'],
  'stdio.upstream.refused': [
    'done',
    'A stdio server that cannot be opened is an error and leaves no process.',
  ],
  'connections.shared.one': ['done', 'A shared server has one connection, whoever asks at once.'],
  'connections.shared.reopened': ['done', 'A shared connection that ended or failed is opened anew.'],
  'connections.shared.close': [
    'done',
    'A shutdown leaves no shared connection behind, not even a half-open one.',
  ],
  'sample.no-loopback': ['done', 'No tool of the built-in sample server reaches a loopback listener.'],
  'sample.empty-environment': ['done', 'The built-in sample server sees nothing of our environment.'],
  'connections.shared.update': [
    'done',
    'A reload keeps the connections of servers that did not change, and cuts no call under way.',
  ],
  'upstream.hostile-schema': ['done', 'A server’s output schema cannot occupy the gateway.'],
  'toolcall.failure-classes': [
    'done',
    'A failed call says whether the tool may have run: refused, timed out, uncertain or unreachable.',
  ],
  'catalog.slow-server': ['done', 'A server that hangs neither hides nor delays the tools of the others.'],
} as const satisfies Record<string, Requirement>;
