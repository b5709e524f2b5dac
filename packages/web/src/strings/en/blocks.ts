const count = (amount: number, one: string, many: string) =>
  amount === 1 ? `1 ${one}` : `${amount} ${many}`;

/** The status of a block for the current user. */
const states = {
  checking: { name: 'Checking…', text: '' },
  ready: { name: 'Ready', text: 'The block can run now.' },
  asks: { name: 'Ready', text: 'The block asks for inputs when you run it.' },
  sign_in: { name: 'Needs sign-in', text: 'Sign in to its server first.' },
  values: { name: 'Needs setup', text: 'Enter the values that its server requires first.' },
  choose: {
    name: 'Choose a sign-in',
    text: 'You have several sign-ins to its server and none is the default.',
  },
  broken: {
    name: 'Invalid inputs',
    text: 'The saved inputs do not match the tool. An editor of the block must fix them.',
  },
  no_access: {
    name: 'No access',
    text: 'The server of this block is not shared with you. Ask its owner for access.',
  },
  server_gone: {
    name: 'Server deleted',
    text: 'The server of this block was deleted. A new server with the same ID does not replace it.',
  },
  tool_gone: { name: 'Tool not found', text: 'The server no longer offers this tool to you.' },
  not_found: { name: 'Deleted', text: 'The block was deleted or is no longer shared with you.' },
  unknown: { name: 'Unknown', text: 'The tools of its server are not available at the moment.' },
};

/** Texts about changes of a tool after a block was saved. */
const drift = {
  badge: 'Tool changed',
  title: 'The tool changed after the block was saved',
  runs: 'The block still runs.',
  undecided: 'Whether it still runs is known when nothing is missing.',
  broken: 'The block does not run until it is fixed.',
  input: 'Arguments',
  output: 'Result',
  added: (names: string) => `added: ${names}`,
  removed: (names: string) => `removed: ${names}`,
  changed: (names: string) => `changed: ${names}`,
  required: (names: string) => `now required: ${names}`,
  optional: (names: string) => `now optional: ${names}`,
  otherParts: 'other parts of the schema',
  fix: 'Edit and save the block to use the current version of the tool.',
};

/** Texts of the block editor. */
const form = {
  newTitle: 'New block',
  newLead: 'Choose a tool, and which of its inputs are fixed or asked for.',
  editTitle: (title: string) => `Edit “${title}”`,
  server: 'Server',
  tool: 'Tool',
  chooseServer: 'Choose a server',
  chooseTool: 'Choose a tool',
  noTools: 'This server has no tools.',
  noServersTitle: 'No servers yet',
  noServersText: 'A block runs a tool of a server. Add a server first, or ask for access to one.',
  goToServers: 'Go to servers',
  toolNotFoundTitle: 'Tool not found',
  toolNotFoundText: 'Choose another tool.',
  title: 'Title',
  titleHint: 'Leave empty to use the tool’s name.',
  titleMissing: 'Enter a title.',
  description: 'Description',
  descriptionHint: 'Shown to everyone who can see the block.',
  inputs: 'Inputs',
  inputsHint: 'Everyone who can see the block sees these values. Do not enter secrets.',
  noInputs: 'This tool has no inputs.',
  inputsUnavailableTitle: 'Inputs cannot be changed now',
  inputsUnavailableText: 'The tool is not available to you. You can still change the title and description.',
  inputLabel: (name: string) => `Input ${name}`,
  modes: { ask: 'Ask', default: 'Default', fixed: 'Fixed' },
  modeTexts: {
    ask: 'Entered when the block is run.',
    default: 'Used unless another value is entered.',
    fixed: 'Always this value.',
  },
  jsonInputs: 'Inputs as JSON',
  jsonInputsHint:
    'No form is available for the inputs of this tool. Enter an object with {"mode": "fixed", "value": …}, {"mode": "default", "value": …} or {"mode": "ask"} for each input.',
  jsonInputsInvalid: 'Enter an object in which each input has a mode and, unless the mode is ask, a value.',
  undeclaredInputs: 'Inputs that the tool does not declare',
  removeInput: (name: string) => `Remove ${name}`,
  save: 'Save block',
  saveChanges: 'Save',
  saved: (title: string) => `“${title}” saved`,
  fixFields: 'Fix the highlighted fields',
  conflictTitle: 'Someone else changed this block',
  conflictText: 'Load the latest version and repeat your changes. Loading it discards your unsaved changes.',
  conflictReload: 'Load latest version',
  unsavedTitle: 'Discard unsaved changes?',
  unsavedText: 'Your changes will be lost.',
  unsavedDiscard: 'Discard changes',
};

/** Texts of running a block. */
const run = {
  title: 'Run block',
  run: 'Run',
  inputs: 'Inputs',
  noInputs: 'All inputs are filled in.',
  defaultHint: 'Leave an input empty to use its default.',
  fixed: 'Fixed inputs',
  fixedHint: 'Sent with every run.',
  changedTitle: 'The block changed after you opened it',
  changedText: 'Nothing was run. Review the current version, then run it again.',
  heldText: 'The run continues automatically when the requirements above are met.',
  copyLink: 'Copy link',
};

/** Texts of requirements that are missing for a run. */
const needs = {
  title: 'Before you can run it',
  inputs: 'Inputs to fill in:',
  inputOfBlock: (input: string, block: string) => `${input} (${block})`,
  inputsHere: 'Fill them in above.',
  runContinues: 'The run then continues automatically.',
  thenRun: 'Then run it.',
  values: 'Your values for this server',
  valuesText: 'They are stored encrypted and never shown again.',
  valuesSave: 'Save values',
  valuesSaved: 'Values saved',
  valueMissing: 'Enter a value.',
  choose: 'You have several sign-ins to this server. Choose one above.',
  chooseDefault: 'You have several sign-ins to this server. Make one of them the default.',
  openServer: 'Open server page',
};

/** Texts of choosing the credential of a run. */
const credential = {
  title: (server: string) => `Your sign-in to ${server}`,
  hint: 'Everyone runs the block with their own sign-in.',
  isDefault: 'default',
  none: 'None',
  noneHint: 'This server also works without a sign-in.',
  chooseOne: 'Choose a sign-in.',
  connect: 'Sign in instead',
};

/** Texts of the sharing dialog of a block, where they differ from those of a server. */
const sharing = {
  lead: 'Everyone runs the block with their own access and sign-in. Share its server on the server page.',
  notShared: 'Only you can see this block.',
  permissionLost: 'You can no longer share this block.',
  roleTexts: {
    mcpServer_viewer: 'can see the block with its inputs, and run it',
    mcpServer_editor: 'can also edit the block',
    mcpServer_owner: 'can also share and delete the block',
  },
};

/** Texts of the block pages. */
export const blocks = {
  title: 'Blocks',
  lead: 'Saved tool calls you can run again or share. Everyone runs them with their own access.',
  add: 'New block',
  search: 'Search blocks',
  searchPlaceholder: 'Title, server or tool',
  count: (amount: number) => count(amount, 'block', 'blocks'),
  noneTitle: 'No blocks yet',
  noneText: 'Save a tool with its inputs to run it again with one click, or to share it.',
  tryTool: 'Try a tool first',
  noMatchTitle: 'No blocks found',
  noMatchText: 'Try another search.',
  showAll: 'Show all blocks',
  showMore: (amount: number) => `Show ${amount} more`,
  owned: 'Owned by you',
  shared: 'Shared with you',
  toolOnServer: (tool: string, server: string) => `${tool} on ${server}`,
  back: 'All blocks',
  notFoundTitle: 'Block not found',
  notFoundText: 'The block does not exist, was deleted, or is no longer shared with you.',
  edit: 'Edit',
  share: 'Share',
  delete: 'Delete',
  deleteTitle: (title: string) => `Delete “${title}”?`,
  deleteText: 'The block is deleted for everyone. Its server and tool are not changed.',
  deleted: (title: string) => `“${title}” deleted`,
  saveAs: 'Save as block',
  changed: (moment: string) => `Changed ${moment}`,
  forbiddenTitle: 'Your role does not allow using servers',
  forbiddenText: 'Ask an administrator for access.',
  states,
  drift,
  form,
  run,
  needs,
  credential,
  sharing,
};
