const count = (amount: number, one: string, many: string) =>
  amount === 1 ? `1 ${one}` : `${amount} ${many}`;

/** How a block stands for whoever looks at it. */
const states = {
  checking: { name: 'Checking', text: '' },
  ready: { name: 'Ready', text: 'It would run now.' },
  asks: { name: 'Ready', text: 'It asks for its inputs when it runs.' },
  sign_in: { name: 'Needs a sign-in', text: 'You have to sign in at its server first.' },
  values: { name: 'Needs your values', text: 'Its server wants values of your own first.' },
  choose: {
    name: 'Choose a sign-in',
    text: 'You have several sign-ins at its server, and none is the default.',
  },
  broken: {
    name: 'Does not fit',
    text: 'What is saved does not fit the tool any more. Whoever may edit the block has to correct it.',
  },
  no_access: {
    name: 'No access',
    text: 'Its server is not shared with you. Ask the owner of the server for it.',
  },
  server_gone: {
    name: 'Server gone',
    text: 'Its server was removed. A new one of the same name is another server; the block runs for nobody.',
  },
  tool_gone: { name: 'Tool gone', text: 'Its server has no such tool for you any more.' },
  not_found: { name: 'Gone', text: 'It was deleted, or is not shared with you any more.' },
  unknown: { name: 'Not known', text: 'Its server does not show its tools just now.' },
};

/** What changed about a tool since a block was saved. */
const drift = {
  badge: 'Tool changed',
  title: 'The tool has changed since the block was saved',
  runs: 'The block still runs.',
  waits: 'Whether it still runs shows once nothing is missing.',
  broken: 'The block does not run until it is corrected.',
  input: 'Arguments',
  output: 'Result',
  added: (names: string) => `new: ${names}`,
  removed: (names: string) => `gone: ${names}`,
  changed: (names: string) => `changed: ${names}`,
  required: (names: string) => `now required: ${names}`,
  optional: (names: string) => `not required any more: ${names}`,
  other: 'something besides single arguments changed',
  fix: 'Edit it and save it to take the tool over as it is now.',
};

/** The form in which a block is made or changed. */
const form = {
  newTitle: 'New block',
  newLead: 'Choose a tool, and say which of its inputs are always the same and which are asked for.',
  editTitle: (title: string) => `Edit “${title}”`,
  server: 'Server',
  tool: 'Tool',
  chooseServer: 'Choose a server',
  chooseTool: 'Choose a tool',
  noTools: 'This server has no tools.',
  noServersTitle: 'There are no servers yet',
  noServersText: 'A block is a tool of a server. Add one first, or ask for one.',
  toServers: 'Go to the servers',
  toolGoneTitle: 'This tool is not there',
  toolGoneText: 'Choose another one.',
  title: 'Title',
  titleHint: 'What people read. Empty: what the server calls the tool.',
  titleMissing: 'It needs a title.',
  description: 'Description',
  descriptionHint: 'What it is for. Everybody who may see the block reads it.',
  inputs: 'Inputs',
  inputsHint: 'Whoever may see the block sees these values. Put no secret here.',
  noInputs: 'This tool takes no inputs.',
  inputsStay: 'The inputs cannot be changed now',
  inputsStayText:
    'The tool is not there for you. Title and description can be saved; the inputs stay as they are.',
  modeOf: (name: string) => `Input ${name}`,
  modes: { ask: 'Ask', default: 'Default', fixed: 'Fixed' },
  modeTexts: {
    ask: 'Whoever runs it enters this then.',
    default: 'Filled in already; whoever runs it may enter something else.',
    fixed: 'Always this value. Nobody who runs it can change it.',
  },
  raw: 'Inputs as JSON',
  rawHint:
    'This tool describes its inputs in a way that no form can show. Each name with {"mode": "fixed", "value": …}, "default", or {"mode": "ask"}.',
  rawWrong: 'This must be an object of names, each with a mode and, unless it is asked for, a value.',
  others: 'Inputs that the tool does not name',
  removeOther: (name: string) => `Remove ${name}`,
  save: 'Save the block',
  saveChanges: 'Save',
  saved: (title: string) => `“${title}” is saved`,
  correct: 'Something has to be corrected first',
  conflictTitle: 'Somebody changed the block meanwhile',
  conflictText: 'Load what is stored now; what you typed here is lost then.',
  conflictReload: 'Load it',
  unsavedTitle: 'Leave without saving?',
  unsavedText: 'What you typed here is lost.',
  unsavedLeave: 'Leave',
};

/** A block that is run. */
const run = {
  title: 'Run it',
  run: 'Run',
  inputs: 'Inputs',
  noInputs: 'It asks for nothing: everything is filled in.',
  proposed: 'A proposal that you clear is used all the same. Enter something else to replace it.',
  fixed: 'Filled in by the block',
  fixedHint: 'Sent with every run, whoever runs it.',
  changedTitle: 'The block was changed since you opened it',
  changedText: 'Nothing was run. It is loaded anew: look at what it does now, then run it again.',
  heldText:
    'The tool was not called yet. As soon as what is named above is there, this run goes on by itself.',
  copyLink: 'Copy a link',
};

/** What is missing before something runs. */
const needs = {
  title: 'What it needs first',
  inputs: 'Inputs to fill in:',
  ofBlock: (input: string, block: string) => `${input} (${block})`,
  inputsHere: 'Fill them in above.',
  goesOn: 'The run goes on by itself then.',
  thenRun: 'Then you can run it.',
  values: 'Values of your own for this server',
  valuesText: 'They are kept sealed, and never shown again.',
  valuesSave: 'Save the values',
  valuesSaved: 'Your values are saved',
  valueMissing: 'Enter this value.',
  choose: 'You have several sign-ins at this server. Choose one above.',
  chooseHere: 'You have several sign-ins at this server. Make one of them the default.',
  toServer: 'Open the page of the server',
};

/** With which of one's own credentials a block runs. */
const credential = {
  title: (server: string) => `Your sign-in at ${server}`,
  hint: 'Whoever runs a block does so with a sign-in of their own, never with that of its author.',
  isDefault: 'default',
  none: 'None',
  noneHint: 'This server also answers without a sign-in.',
  missing: 'Choose one of them.',
  connect: 'Sign in instead',
};

/** Words of the sharing dialog that are others for a block. */
const sharing = {
  lead: 'Whoever runs it does so as themselves, with their own access to its server and their own sign-in there. The server itself is shared on its own page.',
  nobody: 'Nobody but you sees it.',
  rightsLost: 'You may not share this block any more.',
  roleTexts: {
    mcpServer_viewer: 'sees it with its inputs, and runs it',
    mcpServer_editor: 'can change it as well, and so what others run',
    mcpServer_owner: 'can delete and share it as well',
  },
};

/** Words of the pages about blocks. */
export const blocks = {
  title: 'Blocks',
  lead: 'Tools that somebody saved with their inputs: steps that can be run again, each by everybody as themselves.',
  add: 'New block',
  search: 'Search blocks',
  searchPlaceholder: 'Title, server or tool',
  found: (amount: number) => count(amount, 'block', 'blocks'),
  noneTitle: 'There are no blocks yet',
  noneText:
    'Save a tool with its inputs, and it is one click away from then on, for you and for whom you share it with.',
  noneTry: 'Try a tool first',
  noMatchTitle: 'No block matches',
  noMatchText: 'Search for something else.',
  showAll: 'Show all blocks',
  showMore: (amount: number) => `Show ${amount} more`,
  mine: 'Yours',
  shared: 'Shared with you',
  of: (tool: string, server: string) => `${tool} on ${server}`,
  back: 'All blocks',
  goneTitle: 'This block is not there',
  goneText: 'It may have been deleted, or is not shared with you any more.',
  edit: 'Edit',
  share: 'Share',
  remove: 'Delete',
  removeTitle: (title: string) => `Delete “${title}”?`,
  removeText: 'It is gone for everybody whom it is shared with. The server and its tool stay as they are.',
  removed: (title: string) => `“${title}” is deleted`,
  saveAs: 'Save as block',
  changed: (moment: string) => `Changed ${moment}`,
  forbiddenTitle: 'Your role may not use servers',
  forbiddenText: 'Ask an administrator for the permission to use them.',
  states,
  drift,
  form,
  run,
  needs,
  credential,
  sharing,
};
