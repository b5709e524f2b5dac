import type { RunState, StepState } from '@behalf/contracts';

const runStates: Readonly<Record<RunState, string>> = {
  running: 'Running',
  waiting: 'Waiting for you',
  interrupted: 'Interrupted',
  uncertain: 'Unknown outcome',
  failed: 'Failed',
  cancelled: 'Canceled',
  succeeded: 'Done',
};

const stepStates: Readonly<Record<StepState, string>> = {
  pending: 'Pending',
  running: 'Running',
  waiting: 'Waiting for you',
  uncertain: 'Unknown outcome',
  failed: 'Failed',
  succeeded: 'Done',
};

/** Texts of the set editor. */
const form = {
  newTitle: 'New set',
  newLead: 'Blocks that run in order. Each can use the results of earlier ones.',
  editTitle: (title: string) => `Edit “${title}”`,
  title: 'Title',
  titleMissing: 'Enter a title.',
  description: 'Description',
  steps: 'Steps',
  step: (index: number) => `Step ${index}`,
  block: 'Block',
  chooseBlock: 'Choose a block',
  blockMissing: 'Choose a block.',
  add: 'Add step',
  up: (index: number) => `Move step ${index} up`,
  down: (index: number) => `Move step ${index} down`,
  remove: (index: number) => `Remove step ${index}`,
  sourceOf: (input: string) => `Source of ${input}`,
  asBlock: 'Use the block’s setting',
  fixed: 'Fixed value',
  from: (index: number, title: string) => `From step ${index}: ${title}`,
  value: (input: string) => `Value of ${input}`,
  valueHint: 'A JSON value. Put text in double quotes.',
  valueWrong: 'Enter valid JSON. Check quotes, commas and brackets.',
  pointer: (input: string) => `JSON pointer for ${input}`,
  pointerHint: 'For example /rows/0/city. Leave empty to use the whole result.',
  pointerWrong: 'Start with /, or leave empty.',
  notEarlier: 'Choose a step that runs before this one.',
  blockGone: 'This block is no longer available to you. Choose another one.',
  noInputs: 'This block has no inputs to set.',
  noBlocksTitle: 'No blocks yet',
  noBlocksText: 'A set runs blocks. Create a block first.',
  save: 'Save set',
  saved: (title: string) => `“${title}” saved`,
  correct: 'Fix the highlighted fields',
};

/** Texts of running a set. */
const run = {
  title: 'Run set',
  run: 'Run',
  cancel: 'Cancel run',
  cancelling: 'Canceling…',
  resume: 'Resume',
  progress: (done: number, total: number) => `${done} of ${total} steps done`,
  stepOf: (index: number, title: string) => `${index}. ${title}`,
  noInputs: 'No inputs.',
  taken: 'From earlier steps',
  takenFrom: (input: string, step: number, pointer: string) =>
    `${input} ← step ${step}, ${pointer === '' ? 'whole result' : pointer}`,
  fixed: 'Fixed by the set',
  changedTitle: 'The set or one of its blocks changed after you opened it',
  changedText: 'Nothing was run. Review the current version, then run it again.',
  blockGone: 'The block of this step is not available to you. Ask the owner of the set for access.',
  current: 'Current run',
  past: 'Your runs',
  pastHint: 'Only you can see them, until they expire.',
  nonePast: 'No runs yet.',
  open: (moment: string) => `Run of ${moment}`,
  afterSignIn: 'The run then continues automatically.',
  asksFirst:
    'This tool needs approval, which is not possible in a set. Run its block on its own to review and approve the call.',
  uncertain: 'This step may have run, so it is not repeated. Check its effect.',
  interrupted: 'The run was interrupted. Resume it from the first unfinished step.',
  resultLost: 'The result was too large to be stored.',
  runStates,
  stepStates,
};

/** Texts of the sharing dialog of a set, where they differ from those of a server. */
const sharing = {
  lead: 'Everyone runs the set with their own access. Also share its blocks and their servers.',
  nobody: 'Only you can see it.',
  rightsLost: 'You can no longer share this set.',
  roleTexts: {
    mcpServer_viewer: 'can see and run it',
    mcpServer_editor: 'can also edit it',
    mcpServer_owner: 'can also share and delete it',
  },
};

/** Texts of the set pages. */
export const sets = {
  title: 'Sets',
  lead: 'Blocks that run in order, as one job.',
  add: 'New set',
  toBlocks: 'Blocks',
  toSets: 'Sets of blocks',
  noneTitle: 'No sets yet',
  noneText: 'Chain blocks: each can use the results of earlier ones.',
  steps: (amount: number) => (amount === 1 ? '1 step' : `${amount} steps`),
  back: 'All sets',
  goneTitle: 'Set not found',
  goneText: 'It does not exist, was deleted, or is no longer shared with you.',
  edit: 'Edit',
  share: 'Share',
  remove: 'Delete',
  removeTitle: (title: string) => `Delete “${title}”?`,
  removeText: 'Its blocks and past runs are not deleted.',
  removed: (title: string) => `“${title}” deleted`,
  form,
  run,
  sharing,
};
