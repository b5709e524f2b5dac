import type { Requirement } from '../requirements.ts';

export const webChat = {
  'web.chat.batched': [
    'done',
    'Pieces of an answer are put together until the next picture, in their order.',
  ],
  'web.chat.own-part': [
    'done',
    'A piece of text is told to the part it belongs to, and to nothing else on the page.',
  ],
  'web.chat.calls': [
    'done',
    'Text and calls stand in the order they came, and a call is followed to its end.',
  ],
  'web.chat.refused': ['done', 'What the gateway did not take stays on the page, to be sent again.'],
  'web.chat.broken': [
    'done',
    'When the connection breaks what had arrived stays, until the gateway has more of the answer.',
  ],
  'web.chat.older-copy': [
    'done',
    'A copy of a conversation that is older than what is shown changes nothing.',
  ],
  'web.chat.stop': ['done', 'Stop takes back what is not answered yet, and asks the gateway to end what is.'],
  'web.chat.begun': ['done', 'A conversation that gets its id goes on as it is; the next one is another.'],
  'web.chat.kept': ['done', 'The page keeps some conversations, and each that is being written.'],
  'web.chat.events': ['done', 'An event that is unknown or cannot be read is passed over.'],
  'web.chat.follows': ['done', 'The page follows the end of an answer until its reader goes up to read.'],
  'web.chat.tries': ['done', 'What is suggested to begin with looks at something and changes nothing.'],
  'web.chat.servers': ['done', 'The model sees the tools of all servers but those that were left out.'],
  'web.chat.drafts': [
    'done',
    'What was written and not sent is found again by its user alone, and is gone when they sign out.',
  ],
  'web.chat.stale-call': ['done', 'A call for which nobody waits any more is not shown as running.'],
  'web.chat.decided': ['done', 'A call that has ended does not run again because it was approved.'],
  'web.markdown.text': ['done', 'HTML and whatever is not listed stays text in the Markdown of a model.'],
  'web.markdown.links': ['done', 'Links in the Markdown of a model lead to pages of the web alone.'],
  'web.markdown.images': ['done', 'No picture that a model names is loaded.'],
  'web.markdown.bounded': ['done', 'Markdown that is huge, deep or full of signs is shown as text.'],
  'web.markdown.blocks': ['done', 'Of a text that grows only the last block is read anew.'],
  'web.markdown.tables': ['done', 'A large table is read in pieces, and none of its rows is lost.'],
} as const satisfies Record<string, Requirement>;
