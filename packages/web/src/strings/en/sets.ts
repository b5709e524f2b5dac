import type { RunState, StepState } from '@behalf/contracts';

const runStates: Readonly<Record<RunState, string>> = {
  running: 'Running',
  waiting: 'Waits for you',
  interrupted: 'Interrupted',
  uncertain: 'Uncertain',
  failed: 'Failed',
  cancelled: 'Cancelled',
  succeeded: 'Done',
};

const stepStates: Readonly<Record<StepState, string>> = {
  pending: 'Not yet',
  running: 'Running',
  waiting: 'Waits for you',
  uncertain: 'Uncertain',
  failed: 'Failed',
  succeeded: 'Done',
};

const form = {
  newTitle: 'New set',
  newLead: 'Blocks that run one after the other. A later one can take what an earlier one gave.',
  editTitle: (title: string) => `Edit “${title}”`,
  title: 'Title',
  titleMissing: 'It needs a title.',
  description: 'Description',
  steps: 'Steps',
  step: (index: number) => `Step ${index}`,
  block: 'Block',
  chooseBlock: 'Choose a block',
  blockMissing: 'Choose a block.',
  add: 'Add a step',
  up: (index: number) => `Move step ${index} up`,
  down: (index: number) => `Move step ${index} down`,
  remove: (index: number) => `Remove step ${index}`,
  sourceOf: (input: string) => `Where ${input} comes from`,
  asBlock: 'As the block says',
  fixed: 'Always this value',
  from: (index: number, title: string) => `From step ${index}: ${title}`,
  value: (input: string) => `Value of ${input}`,
  valueHint: 'Written as JSON: texts in double quotes.',
  valueWrong: 'This is not JSON. Check quotes, commas and brackets.',
  pointer: (input: string) => `Place of ${input} in that result`,
  pointerHint: 'A JSON pointer such as /rows/0/city. Empty: the whole result.',
  pointerWrong: 'A pointer is empty, or begins with /.',
  notEarlier: 'That step does not run before this one.',
  blockGone: 'This block is not there for you any more. Choose another one.',
  noInputs: 'Nothing to decide: the block fixes or asks for nothing.',
  noBlocksTitle: 'There are no blocks yet',
  noBlocksText: 'A set is made of blocks. Make one first.',
  save: 'Save the set',
  saved: (title: string) => `“${title}” is saved`,
  correct: 'Something has to be corrected first',
};

const run = {
  title: 'Run it',
  run: 'Run',
  cancel: 'Cancel the run',
  cancelling: 'Cancelling',
  resume: 'Go on',
  progress: (done: number, total: number) => `${done} of ${total} steps done`,
  stepOf: (index: number, title: string) => `${index}. ${title}`,
  noInputs: 'It asks for nothing.',
  taken: 'Taken from earlier steps',
  takenFrom: (input: string, step: number, pointer: string) =>
    `${input} ← step ${step}, ${pointer === '' ? 'the whole result' : pointer}`,
  fixed: 'Filled in by the set',
  changedTitle: 'The set or one of its blocks was changed since you opened it',
  changedText: 'Nothing was run. It is loaded anew: look at what it does now, then run it again.',
  blockGone: 'The block of this step is not there for you. Ask who shared the set.',
  current: 'This run',
  past: 'Your runs',
  pastHint: 'They are kept for you alone, until they expire.',
  nonePast: 'You have not run it yet.',
  open: (moment: string) => `Run of ${moment}`,
  afterSignIn: 'The run goes on by itself then.',
  asksFirst:
    'This tool asks first. Run its block by itself to see exactly what would be sent; here it is not approved.',
  uncertain: 'Nobody knows whether this step ran, so it is not repeated. Check its effect.',
  interrupted: 'The process that ran it is gone. Go on from the first step that has not ended.',
  resultLost: 'The result was too large to be kept.',
  runStates,
  stepStates,
};

/** Words of the dialog in which it is shared, where they are others. */
const sharing = {
  lead: 'Whoever runs it does so as themselves, and needs its blocks and their servers as well: share those too.',
  nobody: 'Nobody but you sees it.',
  rightsLost: 'You may not share this set any more.',
  roleTexts: {
    mcpServer_viewer: 'sees it, and runs it',
    mcpServer_editor: 'can change it as well, and so what others run',
    mcpServer_owner: 'can delete and share it as well',
  },
};

/** Words of the pages about sets of blocks. */
export const sets = {
  title: 'Sets',
  lead: 'Blocks that run one after the other, as one job.',
  add: 'New set',
  toBlocks: 'Blocks',
  toSets: 'Sets of blocks',
  noneTitle: 'There are no sets yet',
  noneText: 'Put blocks in an order, and let a later one take what an earlier one gave.',
  steps: (amount: number) => (amount === 1 ? '1 step' : `${amount} steps`),
  back: 'All sets',
  goneTitle: 'This set is not there',
  goneText: 'It may have been deleted, or is not shared with you any more.',
  edit: 'Edit',
  share: 'Share',
  remove: 'Delete',
  removeTitle: (title: string) => `Delete “${title}”?`,
  removeText: 'Its blocks stay. Runs of it stay with those who ran it.',
  removed: (title: string) => `“${title}” is deleted`,
  form,
  run,
  sharing,
};
