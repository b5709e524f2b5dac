import type { Requirement } from '../requirements.ts';

export const mcpDoor = {
  'mcp.legacy.tools': [
    'done',
    'A client with a session lists and calls the tools of one server of either era.',
  ],
  'mcp.legacy.negotiation': [
    'done',
    'A session is of the revision that the client asked for, or of the newest with sessions.',
  ],
  'mcp.legacy.progress': ['done', 'Progress comes under the client’s own token, upwards, before the result.'],
  'mcp.legacy.logging': ['done', 'Log messages come from the level on that the session set, on any replica.'],
  'mcp.legacy.cancel': [
    'done',
    'A cancelled request stops at the server, also when told to another replica.',
  ],
  'mcp.legacy.leaving': [
    'done',
    'A client that leaves has not cancelled: the call goes on and the stream can be taken up again.',
  ],
  'mcp.legacy.forgotten': [
    'done',
    'Of a request that was cancelled, or that another answers, nothing is kept and nobody reads on.',
  ],
  'mcp.legacy.slow-reader': [
    'done',
    'A client that does not keep up misses notices, never a question or the answer; what is kept is bounded in all.',
  ],
  'mcp.legacy.elicitation': [
    'done',
    'A server’s question reaches the client of the call, and the answer may come to another replica.',
  ],
  'mcp.legacy.content': [
    'done',
    'Kinds of content that the session’s revision does not have are told in a text; nothing else is changed.',
  ],
  'mcp.legacy.batch': ['done', 'Only the one revision that has batches takes them.'],
  'mcp.session.required': ['done', 'Without a session there is no request of the legacy era.'],
  'mcp.session.owner': [
    'done',
    'A session is its user’s and its endpoint’s: for anybody else there is none.',
  ],
  'mcp.session.refresh': ['done', 'Another token of the same user goes on with the session.'],
  'mcp.session.ended': ['done', 'A session that was ended is gone on every replica.'],
  'mcp.session.answers': ['done', 'An answer to what this session was never asked reaches nobody.'],
  'mcp.session.replicas': ['done', 'A session that began at one replica is served by every other.'],
  'mcp.replicas.lost': [
    'done',
    'A replica that dies takes the streams that it held with it, and nothing else.',
  ],
  'mcp.session.bounded': [
    'done',
    'What a client makes the store keep for its session is bounded: addresses, and the ids it cancels.',
  ],
  'mcp.modern.discover': ['done', 'A client without a session finds out what is here, and calls at once.'],
  'mcp.modern.results': ['done', 'Every result says its kind and who gave it; lists and reads are private.'],
  'mcp.modern.envelope': [
    'done',
    'What a request must say of itself is asked for, with the error of the standard.',
  ],
  'mcp.modern.headers': ['done', 'Headers that disagree with the body are refused; the body alone decides.'],
  'mcp.params.absent': ['done', 'A header that repeats an argument which is not there is refused.'],
  'mcp.params.passed': [
    'done',
    'Headers of that kind which a tool does not know go on to modern servers; no other header of a client does.',
  ],
  'mcp.modern.method': ['done', 'A method that is not there is 404, and no session is ever made.'],
  'mcp.modern.leaving': ['done', 'A client that leaves has cancelled.'],
  'mcp.modern.input': ['done', 'What a modern server asks goes to a modern client, and the answers back.'],
  'mcp.modern.state': [
    'done',
    'requestState opens for the same user, method and arguments alone, for a quarter of an hour.',
  ],
  'mcp.modern.listen': [
    'done',
    'A subscription is acknowledged first, tells what was asked for, and ends in good order.',
  ],
  'mcp.era.translation': [
    'done',
    'A client of either era uses tools, resources and prompts of a server of either.',
  ],
  'mcp.names.prefixed': [
    'done',
    'Side by side, names begin with their server’s key and fit what models accept.',
  ],
  'mcp.names.stable': ['done', 'A name hangs on its own server and tool, not on what else there is.'],
  'mcp.names.looked-up': ['done', 'A name is looked up, never taken apart: it reaches one tool or none.'],
  'mcp.resources.addresses': ['done', 'Addresses stay as they are unless two servers have the same one.'],
  'mcp.list.filtered': ['done', 'Everybody lists what they may call, and is told of nothing else.'],
  'mcp.list.partial': ['done', 'A server that hangs or wants a sign-in is named, and hides no other.'],
  'mcp.list.bounded': [
    'done',
    'A list is answered five seconds after it was asked for at the latest, whatever hangs.',
  ],
  'mcp.list.cursor': ['done', 'A cursor is its user’s, and ends with the list that it was for.'],
  'mcp.list.changes': ['done', 'Whoever keeps a stream is told when a list of theirs has changed.'],
  'mcp.door.programs': ['done', 'Tokens and keys open the endpoint; a cookie does not.'],
  'mcp.door.origin': ['done', 'A page of another site is refused, whatever it presents.'],
  'mcp.door.denied-alike': ['done', 'What is forbidden and what does not exist are told alike.'],
  'mcp.door.malformed': [
    'done',
    'What is no message is refused as JSON-RPC says, and costs no server anything.',
  ],
  'mcp.door.errors': ['done', 'Errors have our code and a number outside of what the protocol reserves.'],
  'mcp.door.arguments': [
    'done',
    'Arguments that do not fit are a failed result, which a model can put right.',
  ],
  'mcp.door.audit': ['done', 'Calls are written down and counted as those of every other door.'],
  'mcp.door.in-flight': [
    'done',
    'One user has so many requests under way, in both eras and at all doors together; others have theirs.',
  ],
  'mcp.door.trace': [
    'done',
    'The trace context of a message goes on to the server, before that of the headers; baggage to the operator’s servers alone.',
  ],
  'mcp.door.streams': [
    'done',
    'Streams are kept alive, bounded for each user, and end when the gateway does.',
  ],
  'mcp.door.streams-released': [
    'done',
    'A stream that cannot be opened, or whose client has left, holds nothing; none takes others along.',
  ],
  'mcp.streams.signed-out': [
    'done',
    'Streams of a user who is signed out or disabled end at every replica; nobody else’s do.',
  ],
  'mcp.errors.method': [
    'done',
    'A method that the one server of an endpoint does not know is told as one that the endpoint does not have.',
  ],
  'mcp.errors.own-hop': [
    'done',
    'A server that refuses the form of a request refuses ours: its client is told of an error inside, and nothing of the number.',
  ],
  'mcp.signin.forms': ['done', 'That a user must connect is told in the best form that the client has.'],
  'mcp.signin.retry': [
    'done',
    'A request that comes again after its user has connected goes on; the client’s word for it is not enough.',
  ],
  'mcp.signin.own-token': [
    'done',
    'A 401 is about the token that the request brought and about no other; lists go on without what cannot be exchanged.',
  ],
  'mcp.signin.own-link': [
    'done',
    'A link to connect a server works for the user who was asked: to anybody else the page says so and begins nothing.',
  ],
  'mcp.signin.one-card': [
    'done',
    'Calls that need one sign-in of one user give one link and one id, until it is settled.',
  ],
} satisfies Record<string, Requirement>;
