import type { Requirement } from '../requirements.ts';

export const conversations = {
  'conversations.kept': [
    'done',
    'A conversation is read back as it was said; an answer that grows is one message in its place.',
  ],
  'conversations.gives-way': ['done', 'Others have their turn while a conversation is opened.'],
  'conversations.titles': [
    'done',
    'A title is the beginning of what was asked, or what its user wants, of at most 200 characters.',
  ],
  'conversations.own': [
    'done',
    'A conversation of somebody else answers as one that does not exist, to an administrator too.',
  ],
  'conversations.removal': ['done', 'A conversation that is removed is gone with all that was said in it.'],
  'conversations.sealed': ['done', 'Neither titles nor messages are in the store in clear.'],
  'conversations.tampered': [
    'done',
    'A title or a message that was changed or moved past the gateway is not shown, and the log says so.',
  ],
  'conversations.pages': [
    'done',
    'Conversations are listed from the newest on, each once, while others begin and are gone on with.',
  ],
  'conversations.limits': [
    'done',
    'Conversations of a user, messages of a conversation and their size have an end, and the answer says which.',
  ],
  'stores.conversations.round-trip': [
    'done',
    'A conversation and its messages are read back as they were written, in their order.',
  ],
  'stores.conversations.replace': [
    'done',
    'A message of the same id takes the place of the one before it, however many are written at once.',
  ],
  'stores.conversations.order': ['done', 'Messages that are added at once have a place each.'],
  'stores.conversations.pages': [
    'done',
    'A user’s conversations are read from the newest on, each once, while others are added.',
  ],
  'stores.conversations.rename': [
    'done',
    'A new title and a message that is saved meanwhile undo nothing of each other.',
  ],
  'stores.conversations.apart': [
    'done',
    'With the id of another user’s or tenant’s row nobody reads, changes, adds or removes.',
  ],
  'stores.conversations.limits': [
    'done',
    'However many write at once, a user has no more conversations, and a conversation no more messages, than allowed.',
  ],
  'stores.conversations.removal': [
    'done',
    'A conversation goes with its messages and nothing else, also with one that is being saved.',
  ],
  'stores.copy.large-records': ['done', 'What may be large is moved and sealed anew a few at a time.'],
} as const satisfies Record<string, Requirement>;
