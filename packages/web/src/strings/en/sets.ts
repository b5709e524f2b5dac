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
  blockSetting: 'Use the block’s setting',
  fixedValue: 'Fixed value',
  from: (index: number, title: string) => `From step ${index}: ${title}`,
  value: (input: string) => `Value of ${input}`,
  valueHint: 'A JSON value. Put text in double quotes.',
  valueInvalid: 'Enter valid JSON. Check quotes, commas and brackets.',
  pointer: (input: string) => `JSON pointer for ${input}`,
  pointerHint: 'For example /rows/0/city. Leave empty to use the whole result.',
  pointerInvalid: 'Start with /, or leave empty.',
  stepNotEarlier: 'Choose a step that runs before this one.',
  blockUnavailable: 'This block is no longer available to you. Choose another one.',
  noInputs: 'This block has no inputs to set.',
  noBlocksTitle: 'No blocks yet',
  noBlocksText: 'A set runs blocks. Create a block first.',
  save: 'Save set',
  saved: (title: string) => `“${title}” saved`,
  fixFields: 'Fix the highlighted fields',
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
  fromSteps: 'From earlier steps',
  fromStep: (input: string, step: number, pointer: string) =>
    `${input} ← step ${step}, ${pointer === '' ? 'whole result' : pointer}`,
  fixed: 'Fixed by the set',
  changedTitle: 'The set or one of its blocks changed after you opened it',
  changedText: 'Nothing was run. Review the current version, then run it again.',
  blockUnavailable: 'The block of this step is not available to you. Ask the owner of the set for access.',
  current: 'Current run',
  yourRuns: 'Your runs',
  yourRunsHint: 'Only you can see them, until they expire.',
  noRuns: 'No runs yet.',
  runOf: (moment: string) => `Run of ${moment}`,
  afterSignIn: 'The run then continues automatically.',
  needsApproval:
    'This tool needs approval, which is not possible in a set. Run its block on its own to review and approve the call.',
  uncertain: 'This step may have run, so it is not repeated. Check its effect.',
  interrupted: 'The run was interrupted. Resume it from the first unfinished step.',
  resultDiscarded: 'The result was too large to be stored.',
  runStates,
  stepStates,
};

/** Texts of the sharing dialog of a set, where they differ from those of a server. */
const sharing = {
  lead: 'Everyone runs the set with their own access. Also share its blocks and their servers.',
  notShared: 'Only you can see this set.',
  permissionLost: 'You can no longer share this set.',
  roleTexts: {
    mcpServer_viewer: 'can see and run the set',
    mcpServer_editor: 'can also edit the set',
    mcpServer_owner: 'can also share and delete the set',
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
  notFoundTitle: 'Set not found',
  notFoundText: 'The set does not exist, was deleted, or is no longer shared with you.',
  edit: 'Edit',
  share: 'Share',
  delete: 'Delete',
  deleteTitle: (title: string) => `Delete “${title}”?`,
  deleteText: 'Its blocks and past runs are not deleted.',
  deleted: (title: string) => `“${title}” deleted`,
  form,
  run,
  sharing,
};
