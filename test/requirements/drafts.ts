import type { Requirement } from '../requirements.ts';

export const drafts = {
  'drafts.discover.tools': [
    'done',
    'A server that nobody saved shows its tools; that it was looked at is told, and nothing is stored.',
  ],
  'drafts.discover.key': [
    'done',
    'A server that names no place to sign in is answered as such, and shows its tools for a key that is sent along.',
  ],
  'drafts.discover.hints': [
    'done',
    'A refusal after a sign-in says what may be wrong with the token, and another sign-in can ask for more.',
  ],
  'drafts.discover.no-words': [
    'done',
    'A server that fails is a 502 in our own words: nothing that stands at that address is repeated.',
  ],
  'drafts.discover.policy': [
    'done',
    'An address that users may not choose is a 403, and whatever is there hears nothing.',
  ],
  'drafts.discover.dialled': [
    'done',
    'Looking at a server dials no address that its user may not choose, by name, in any spelling or by a redirect.',
  ],
  'drafts.discover.rules': [
    'done',
    'A server is looked at only if saving it would not be refused for its definition.',
  ],
  'drafts.discover.rate': [
    'done',
    'One user looks at so many servers and then waits, for all replicas together.',
  ],
  'drafts.discover.permission': ['done', 'Only who may create servers looks at one that nobody saved.'],
  'drafts.discover.bounded': ['done', 'What is shown of tools has an end, whatever the server sends.'],
  'drafts.discover.masked': [
    'done',
    'A server that repeats the key or token it was shown has it repeated to nobody.',
  ],
  'drafts.sign-in.tools': [
    'done',
    'A user signs in before saving and sees the tools; what holds the sign-in is no server to anybody.',
  ],
  'drafts.save.kept': [
    'done',
    'A server saved from a draft is connected without another sign-in, once, on every replica, and its token is renewed.',
  ],
  'drafts.save.url': ['done', 'A sign-in on a draft is dropped and revoked where another address is saved.'],
  'drafts.save.issuer': [
    'done',
    'A sign-in on a draft is dropped and revoked where the server names another issuer by then.',
  ],
  'drafts.guard.own': [
    'done',
    'A draft of somebody else is as one that does not exist, and nobody else ends it.',
  ],
  'drafts.guard.browser': [
    'done',
    'At a draft, too, only the browser that began a sign-in goes on at once; any other is asked.',
  ],
  'drafts.guard.expired': [
    'done',
    'After a quarter of an hour nothing can be done with a draft or its sign-in.',
  ],
  'drafts.guard.bound': [
    'done',
    'The token of a draft is shown to the address it was given for and to no other.',
  ],
  'drafts.guard.issuer': [
    'done',
    'A server that nobody saved may not name an authorization server of the operator’s own.',
  ],
  'drafts.guard.permission': ['done', 'Who may not create servers any more goes on with no draft.'],
  'drafts.secrets.nowhere': [
    'done',
    'No key, token or address of a draft stands in an answer, a log, the audit or, in the clear, in the store.',
  ],
  'drafts.client.document': [
    'done',
    'The client of a draft has a document of its own, and renews what it was given for the server made of the draft.',
  ],
  'drafts.client.served': [
    'done',
    'The document of a draft’s client is there while the draft is, and then while the server made of it is.',
  ],
  'drafts.kept.one': ['done', 'One definition of one user has one draft, while there is time to sign in.'],
  'drafts.kept.limit': ['done', 'A user has so many drafts and no more.'],
  'drafts.kept.sealed': ['done', 'A draft does not open as that of another user or id.'],
  'drafts.swept': [
    'done',
    'A draft whose time is up, or that does not open any more, ends with all that was given for it, unless a server was made of it.',
  ],
  'stores.drafts.round-trip': [
    'done',
    'A draft is found as it was stored, by its tenant and its user alone.',
  ],
  'stores.drafts.taken-once': ['done', 'Of all who take a draft at once, one gets it, and only its user.'],
  'stores.drafts.expiry': ['done', 'A draft that is over is not taken, and is listed for whoever ends it.'],
  'stores.drafts.limit': [
    'done',
    'A user has no more open drafts than one may have, also by parallel requests.',
  ],
} satisfies Record<string, Requirement>;
