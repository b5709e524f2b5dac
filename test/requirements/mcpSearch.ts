import type { Requirement } from '../requirements.ts';

/** Tools that are looked for instead of listed. */
export const mcpSearch = {
  'search.opt-in': [
    'done',
    'A client that asks for it by the address is listed two tools in place of all, in both eras; another value is refused.',
  ],
  'search.resource': [
    'done',
    'What a token is issued for is the address without the query: documents, challenges and audiences are the same.',
  ],
  'search.bound': [
    'done',
    'A session or a state of an endpoint with a search does not open at the one without, nor the reverse.',
  ],
  'search.found': [
    'done',
    'Of twenty questions over a thousand tools each finds the right one among the first five, at the endpoint.',
  ],
  'search.result': [
    'done',
    'What is found is told as text and as the schema says it, with everything that a call needs.',
  ],
  'search.visible': [
    'done',
    'A search finds what a list would show its caller; what is hidden leaves no trace, not even in the order.',
  ],
  'search.missing': ['done', 'Servers that cannot be searched are named with the page that connects them.'],
  'search.instructions': [
    'done',
    'The instructions say how to search, and name the servers that this caller may use.',
  ],
  'search.call': [
    'done',
    'A call through call_tool is the call of that tool: routing, rules, arguments, audit and result.',
  ],
  'search.call.approval': ['done', 'A tool that asks first asks first when it is called through call_tool.'],
  'search.call.dialogue': [
    'done',
    'Questions in the middle of a call through call_tool reach the client in both eras; a state belongs to that very call.',
  ],
  'search.call.stream': [
    'done',
    'Progress and cancellation of a call through call_tool are those of the tool.',
  ],
  'search.call.headers': [
    'done',
    'The headers of a modern call repeat call_tool, and nothing of the tool it runs.',
  ],
  'search.shadow': [
    'done',
    'A tool of a server cannot take the place of the two; it is called through call_tool.',
  ],
  'search.rank.words': ['done', 'Spellings, plurals and beginnings of a word find each other.'],
  'search.rank.ties': [
    'done',
    'The same question over the same tools has the same answer, whatever their order.',
  ],
  'search.rank.bounded': [
    'done',
    'A tool with an endless text is read as far as any other, and costs no more.',
  ],
  'search.rank.once': [
    'done',
    'A tool is read once, however often it is searched; what is remembered is bounded, and goes of the server that says the most.',
  ],
  'search.paced': [
    'done',
    'A search of however many tools lets everything else have its turn after a few of them, and ends with its client.',
  ],
  'search.one-each': ['done', 'A user has one search under way; the next one waits, and nobody else does.'],
  'search.compared': [
    'done',
    'How much a word of a question is compared with is bounded, whatever words a tool has.',
  ],
} as const satisfies Record<string, Requirement>;
