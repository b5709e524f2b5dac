import type { Requirement } from '../requirements.ts';

export const toolcall = {
  'toolcall.failure-classes': [
    'done',
    'A failed call says whether the tool may have run: refused, timed out, uncertain or unreachable.',
  ],
  'toolcall.rpc-error': [
    'done',
    'What a server says of a call it judged becomes a result of the tool, bounded; what it says of a list does not.',
  ],
  'toolcall.read-errors': [
    'done',
    'Resources and prompts that a server lacks are not found, and a sign-in that is needed is told there too.',
  ],
  'toolcall.grant.anew': [
    'done',
    'Who signs in anew in the middle of a call has it sent with the new grant, over another connection.',
  ],
  'toolcall.scope.second': ['done', 'A wider scope that is wanted at the second try is asked for too.'],
  'toolcall.masked.all': ['done', 'Every token that a call presented is taken out of what the server says.'],
  'toolcall.replay.uncertain': [
    'done',
    'A call that may have run is never sent twice because its server calls it harmless.',
  ],
  'toolcall.replay.vouched': [
    'done',
    'A tool that the operator vouches for is called once more when its outcome is unknown.',
  ],
  'toolcall.replay.most-two': ['done', 'No call is sent more than twice, whatever happens to it.'],
  'toolcall.replay.ended': ['done', 'A call on a connection that was gone before it is sent once more.'],
  'toolcall.replay.never': ['done', 'What was refused, never got there or is too large is not sent again.'],
  'toolcall.replay.left': ['done', 'Nothing is sent again for somebody who has left.'],
  'toolcall.header-mismatch': [
    'done',
    'A call whose headers a server did not expect is looked up and sent once more, and judged by what was found.',
  ],
  'toolcall.order.free': [
    'done',
    'Whatever can be refused for free is refused before a credential is obtained or anything is sent.',
  ],
  'toolcall.no-oracle': ['done', 'What a caller may not see is told exactly like what does not exist.'],
  'toolcall.arguments.stale-list': [
    'done',
    'An old list of tools is asked for again before it refuses a call.',
  ],
  'toolcall.one-credential': [
    'done',
    'One call obtains one credential, and its list and its call use one connection of one request.',
  ],
  'toolcall.holder': [
    'done',
    'A connection to a user’s server is leased for that user, one to a shared server for nobody.',
  ],
  'toolcall.filter': ['done', 'A tool that the definition hides is neither listed nor called.'],
  'toolcall.request.headers': ['done', 'The credential of who asks goes with every request, and no other.'],
  'toolcall.request.trace': ['done', 'Baggage goes to servers of the operator alone.'],
  'toolcall.request.hop': [
    'done',
    'The hop count of the inbound request goes with every request that is made for it alone.',
  ],
  'toolcall.request.limits': [
    'done',
    'A call ends at its cap whatever progress says, and when its caller leaves.',
  ],
  'toolcall.lease.released': ['done', 'A lease is given back exactly once, with how its use ended.'],
  'toolcall.viewers.ten-sessions': [
    'done',
    'A stored server with one key has a session for each of its viewers.',
  ],
  'toolcall.list.honest': ['done', 'A list says of each server whether its tools can be called now.'],
  'toolcall.catalog.nobodys': [
    'done',
    'A list that everybody waits for carries no hop count, trace or baggage of whoever came first.',
  ],
  'audit.call.event': [
    'done',
    'Every call and read is written down: who, by which door, what, on whose authority, names but no values.',
  ],
  'audit.call.outcome': ['done', 'What was refused, what failed and what is uncertain are told apart.'],
  'audit.call.room': ['done', 'A call with an exchanged token is refused while nothing can be written down.'],
  'policy.call.absent': ['done', 'What the policy denies a role is neither listed nor called.'],
  'policy.call.ask': [
    'done',
    'A tool that asks first runs once for each approval, and spends nothing before it.',
  ],
  'toolcall.obo-trust': [
    'done',
    'No user’s token is exchanged for a server that nobody who may decides about.',
  ],
} as const satisfies Record<string, Requirement>;
