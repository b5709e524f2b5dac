import type { Requirement } from '../requirements.ts';

export const tasks = {
  'tasks.begun': [
    'done',
    'A call of a client that declares the extension may become a task at a modern server; the id that the client gets is ours.',
  ],
  'tasks.undeclared': [
    'done',
    'No server hears of the extension unless the caller’s client declared it with this call; what it begins all the same is an error.',
  ],
  'tasks.required': [
    'done',
    'What a server does for clients with the extension alone is told to a client that could declare it.',
  ],
  'tasks.offered': [
    'done',
    'The extension is advertised to modern clients, and its methods are for those that declare it.',
  ],
  'tasks.asked': [
    'done',
    'A task is asked after, answered and cancelled at its server under its own id, at either endpoint and any replica.',
  ],
  'tasks.headers': ['done', 'Mcp-Name repeats the id on both sides, each side its own.'],
  'tasks.sealed': [
    'done',
    'An id that was changed or is another user’s, another endpoint’s or too old is told like one that never was, and reaches no server.',
  ],
  'tasks.access': [
    'done',
    'Whether its user may still use the server and the tool is asked each time, and told like a task that never was.',
  ],
  'tasks.place': [
    'done',
    'A task is asked after where it was begun: a server that leads elsewhere since is shown no id of it and no answer.',
  ],
  'tasks.credential': [
    'done',
    'A task is asked after with the credential it was begun with, obtained anew; that a sign-in is needed is told as an error.',
  ],
  'tasks.once': ['done', 'A token that is refused and replaced begins one task.'],
  'tasks.questions': [
    'done',
    'What a task asks is put to a client that can be asked it, in the name of the server, and to nobody else.',
  ],
  'tasks.words': ['done', 'Inside a task a server says nothing in our name and repeats no token.'],
  'tasks.audit': ['done', 'Whatever is asked of a task is written down with its server and tool.'],
} as const satisfies Record<string, Requirement>;
