import type { Requirement } from '../requirements.ts';

export const mcpStreams = {
  'identity.caller.watched': [
    'done',
    'Who holds something open is told when their key, grant or sign-in ends, or their account changes; one question for all.',
  ],
  'mcp.streams.revoked': [
    'done',
    'Streams and calls of a key or grant that was taken back end at every replica within seconds; no others do.',
  ],
  'mcp.streams.expired': ['done', 'A stream that waits ends with the token or key that opened it.'],
  'mcp.session.subscriptions': [
    'done',
    'Of what one session subscribes to at once, at several replicas, nothing is lost and no more is kept than may be.',
  ],
  'mcp.signin.complete': [
    'done',
    'A session that was told to open a page hears, at any replica and once, that its user has connected the server; no other session does.',
  ],
  'mcp.list.fetched-once': [
    'done',
    'Prompts, resources and templates of a shared server are fetched once for all users who ask at the same time.',
  ],
  'mcp.list.own-changes': [
    'done',
    'Changes at a caller’s own servers are told on their streams in either era, of eight of them; what is not heard is said.',
  ],
  'mcp.list.ttl': [
    'done',
    'A client may keep a list for a minute only while all its servers announce changes of it and are heard; else not at all.',
  ],
  'mcp.resources.updates': [
    'done',
    'An updated resource of a shared server on any transport is told to those who subscribed it; what cannot be heard is not acknowledged.',
  ],
  'mcp.resume.elsewhere': [
    'done',
    'The stream of a call that is taken up at another replica tells there what the call tells, while it runs and after.',
  ],
  'mcp.resume.lost': [
    'done',
    'A stream whose holder is gone, or has forgotten it, ends with the outcome told as uncertain.',
  ],
  'mcp.resume.bounded': [
    'done',
    'Taking a stream up elsewhere again and again fills no store: who has left is told nothing, a user has turns and a share.',
  ],
  'mcp.resume.too-large': [
    'done',
    'Whoever comes back for an answer that was too large to be kept is told so, and not nothing.',
  ],
  'mcp.resume.owner': ['done', 'The id of an event opens for its session alone, and says nothing to others.'],
  'mcp.session.one-stream': [
    'done',
    'A session has one stream for what nobody asked for: one that opens, at any replica, ends the one before.',
  ],
  'mcp.session.streams-end': [
    'done',
    'Streams of a session end with it at every replica; a notice about one session asks about no other.',
  ],
  'mcp.session.words': [
    'done',
    'A word for a request of a session is heard once, and none is missed by looking too early.',
  ],
  'relay.watch.tenant': [
    'done',
    'What all tenants hear of a shared server never comes from, nor leads to, what one of them has put in its place.',
  ],
  'relay.watch.independent': [
    'done',
    'Nobody who watches a shared server makes the others wait or miss a notice: by being slow, by failing, or by coming and going.',
  ],
  'mcp.streams.slow-reader': [
    'done',
    'A slow reader of notices gets the last of each when it reads on, holds no more than that, and is left when it does not.',
  ],
} satisfies Record<string, Requirement>;
