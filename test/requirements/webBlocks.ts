import type { Requirement } from '../requirements.ts';

export const webBlocks = {
  'web.blocks.asked': [
    'done',
    'The form of a run has what the block does not fix, and begins with what it proposes.',
  ],
  'web.blocks.inputs': [
    'done',
    'Inputs come out of the form of a block as they went in, each with its mode.',
  ],
  'web.blocks.standing': [
    'done',
    'How a block stands is told in one word, and what its tool changed by name.',
  ],
  'web.blocks.needs': [
    'done',
    'Missing inputs and missing credentials are shown together, server by server, in the order of the gateway.',
  ],
  'web.blocks.public': [
    'done',
    'In a browser: a tool of a public server is saved as a block, keeps its title over a reload, and runs.',
  ],
  'web.blocks.own-credential': [
    'done',
    'In a browser: a shared block asks a new user for their own sign-in beside its inputs, and goes on after it.',
  ],
  'web.blocks.choose': [
    'done',
    'In a browser: the only or default credential is preselected; several keep their order, and the chosen one runs.',
  ],
  'web.blocks.none': [
    'done',
    'In a browser: going without a credential is offered last, and only where the server allows it.',
  ],
  'web.blocks.deleted': [
    'done',
    'In a browser: a credential that was chosen and is gone is asked for, and nothing runs without it.',
  ],
  'web.blocks.seen': [
    'done',
    'In a browser: a block that was changed since it was opened is not run, and its new version is shown.',
  ],
  'web.blocks.exact': [
    'done',
    'In a browser: whoever approves the call of a block sees what the block brings as well.',
  ],
  'web.blocks.drift': [
    'done',
    'In a browser: a tool that changed is flagged with the difference, and saving takes it over.',
  ],
  'web.blocks.gone': [
    'done',
    'In a browser: a block says that its server is gone, or not shared with who looks, and offers no run.',
  ],
  'web.blocks.text': [
    'done',
    'In a browser: nothing that a server or an author says of a block is more than text.',
  ],
  'web.blocks.keys': ['done', 'In a browser: a block is made and run with the keyboard alone.'],
} as const satisfies Record<string, Requirement>;
