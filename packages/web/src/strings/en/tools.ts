import type { ResultKind } from '@behalf/contracts';

/** The parts of a result that can be missing. */
const kinds: Readonly<Record<ResultKind, string>> = {
  text: 'the end of the text',
  image: 'an image',
  audio: 'an audio file',
  file: 'a file',
  link: 'a link',
  structured: 'the structured content',
  other: 'unsupported content',
};

/** Texts of a tool result. */
const result = {
  failed: 'The tool returned an error',
  empty: 'The tool returned nothing.',
  truncated: 'The result is too large to show in full. This is the beginning.',
  omittedParts: (missing: readonly ResultKind[]) =>
    `The result is too large. Left out: ${missing.map((kind) => kinds[kind]).join(', ')}.`,
  storedPartly:
    'The conversation stores only part of this result. Copy what you need before you leave this page.',
  text: 'Text',
  json: 'JSON',
  structured: 'Structured content',
  image: 'Image from the tool',
  imageUnreadable: 'This image cannot be displayed.',
  audio: 'Audio from the tool',
  audioUnreadable: 'This audio cannot be played.',
  download: 'Download',
  downloadFailed: 'Download failed. The server sent an invalid file.',
  file: 'File',
  link: 'Link',
  notWebLink: 'Only web links can be opened here.',
  unsupported: 'Unsupported content',
  table: (name: string) => `Table ${name}`,
  name: 'Name',
  value: 'Value',
  moreRows: (count: number) => `Show ${count} more rows`,
  moreEntries: (count: number) => `Show ${count} more`,
  showFullText: 'Show full text',
  entries: (count: number) => (count === 1 ? '1 entry' : `${count} entries`),
  noArguments: 'No arguments',
  arguments: 'Arguments',
  bytes: (size: string, unit: 'B' | 'KB' | 'MB') => `${size} ${unit}`,
};

/** The credential that a server is called with. */
const authority = {
  none: {
    name: 'No credential',
    text: 'No credential is sent.',
  },
  static: {
    name: 'Shared key',
    text: 'Every user of this server shares one key.',
  },
  user_values: {
    name: 'Your values',
    text: 'The values you entered for this server are sent.',
  },
  user_token: {
    name: 'Your account',
    text: 'Your sign-in to this server is used.',
  },
  exchanged: {
    name: 'On your behalf',
    text: 'Your sign-in is exchanged for a token that is valid only for this server.',
  },
  shared: 'All users share one connection.',
  own: 'The connection is yours only.',
  scopes: (scopes: readonly string[]) =>
    scopes.length === 1 ? `Scope: ${scopes[0]}.` : `Scopes: ${scopes.join(', ')}.`,
  label: 'Called with:',
};

/** Texts of forms that are generated from the input schema of a tool. */
const form = {
  noArguments: 'This tool has no arguments.',
  asJson: 'Edit as JSON',
  jsonArguments: 'Arguments as JSON',
  jsonHint: 'A JSON object.',
  jsonValue: 'A JSON value. Put text in double quotes.',
  jsonTypes: (types: string) => `A JSON value (${types}).`,
  useField: 'Back to field',
  partial: 'The form does not show every argument. Edit as JSON to set the others.',
  notSet: 'Not set',
  setNull: (name: string) => `Send null for ${name}`,
  constant: (name: string, value: string) => `${name}: send ${value}`,
  add: (name: string) => `Add ${name}`,
  remove: (name: string) => `Remove ${name}`,
  moveUp: (name: string) => `Move ${name} up`,
  moveDown: (name: string) => `Move ${name} down`,
  item: (name: string, index: number) => `${name} ${index}`,
  variant: (name: string) => `Type of ${name}`,
  variantNumber: (index: number) => `Type ${index}`,
  entryName: 'Name',
  entryValue: 'Value',
  entry: 'entry',
  listItem: 'item',
  otherArguments: 'Other arguments',
  atLeast: (limit: string) => `at least ${limit}`,
  atMost: (limit: string) => `at most ${limit}`,
  above: (limit: string) => `more than ${limit}`,
  below: (limit: string) => `less than ${limit}`,
  step: (step: string) => `in steps of ${step}`,
  whole: 'a whole number',
  characters: (count: number) => (count === 1 ? '1 character' : `${count} characters`),
  items: (count: number) => (count === 1 ? '1 item' : `${count} items`),
  errors: {
    required: 'Enter a value.',
    atValue: (problem: string) => `This value ${problem}`,
    json: 'Enter valid JSON. Check quotes, commas and brackets.',
    object: 'Enter a JSON object, in braces.',
    types: (types: string) => `Enter a value of type ${types}.`,
    number: 'Enter a number.',
    inexact: 'This number has too many digits to be sent exactly.',
    integer: 'Enter a whole number.',
    min: (limit: number) => `Enter ${limit} or more.`,
    max: (limit: number) => `Enter ${limit} or less.`,
    above: (limit: number) => `Enter more than ${limit}.`,
    below: (limit: number) => `Enter less than ${limit}.`,
    step: (step: number) => `Enter a multiple of ${step}.`,
    tooShort: (count: number) =>
      count === 1 ? 'Enter at least 1 character.' : `Enter at least ${count} characters.`,
    tooLong: (count: number) =>
      count === 1 ? 'Enter at most 1 character.' : `Enter at most ${count} characters.`,
    notAllowed: 'Choose one of the allowed values.',
    tooFewItems: (count: number) => (count === 1 ? 'Add at least 1 item.' : `Add at least ${count} items.`),
    tooManyItems: (count: number) => (count === 1 ? 'Keep at most 1 item.' : `Keep at most ${count} items.`),
    duplicateItems: 'Remove duplicate items.',
    nameMissing: 'Enter a name.',
    nameDuplicate: 'This name is already used.',
  },
};

/** Texts of the tool list. */
const list = {
  title: 'All tools',
  search: 'Search tools',
  searchHint: 'Name, description or server',
  count: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
  noMatch: 'No tools found. Try another search.',
  loading: 'Loading tools…',
  refresh: 'Refresh tools',
  states: {
    unreachable: 'Unreachable',
    needs_authorization: 'Needs sign-in',
    needs_configuration: 'Needs setup',
  },
  stateTexts: {
    unreachable: 'The server cannot be reached.',
    needs_authorization: 'Sign in to this server to call its tools.',
    needs_configuration: 'Enter the values that this server requires.',
  },
  serverState: (server: string, state: string) => `${server}: ${state}`,
  openServer: (name: string) => `Open ${name}`,
  incomplete: 'The list is incomplete: the server has more tools.',
  noTools: 'This server has no tools.',
  emptyTitle: 'No tools yet',
  emptyForCreators: 'Add a server to see its tools here.',
  emptyForUsers: 'Ask an administrator to share a server with you.',
  goToServers: 'Go to servers',
  forbiddenTitle: 'Your role does not allow using servers',
  forbiddenText: 'Ask an administrator for access.',
};

/** Texts of the page of a tool. */
const panel = {
  chooseTitle: 'Choose a tool',
  chooseText: 'Nothing runs until you select Run.',
  back: 'All tools',
  onServer: (server: string) => `on ${server}`,
  notFoundTitle: 'Tool not found',
  notFoundText: 'The tool does not exist, was removed, or its server is no longer shared with you.',
  toolNotFound: (server: string) => `${server} has no tool with this name, or you are not allowed to use it.`,
  fullDescription: 'Show full description',
  noDescription: 'No description.',
  badges: 'Properties of this tool',
  readOnly: 'Read-only',
  destructive: 'Destructive',
  needsApproval: 'Needs approval',
  fromLink: 'A link filled in this form',
  fromLinkText: 'Review the values before you run it.',
  arguments: 'Arguments',
  run: 'Run',
  runHint: 'or Ctrl+Enter',
  cancel: 'Cancel',
  reset: 'Clear',
  curl: 'Copy as curl',
  link: 'Copy link',
  invalidTitle: 'The arguments are not valid',
};

/** Texts of a tool call in the tool console. */
const run = {
  title: 'Result',
  states: {
    running: 'Running',
    waiting: 'Waiting for you',
    held: 'Needs sign-in',
    done: 'Done',
    failed: 'Failed',
    refused: 'No result',
    denied: 'Denied',
    cancelled: 'Canceled',
  },
  notSent: 'Not sent',
  announced: (state: string, tool: string) => `${tool}: ${state}`,
  logs: 'Server logs',
  lostTitle: 'The connection was lost before the result arrived',
  lostText: 'The tool may have run. Check its effect before you run it again.',
  cancelled: 'You canceled the call. The tool may have run.',
  denied: 'You denied this call. Nothing was sent.',
  requestAgain: 'Run it again to get a new request.',
  afterSignIn: 'The call continues automatically after you sign in.',
  resume: 'Continue',
  fixFields: 'Fix the highlighted fields.',
  history: 'Recent runs',
  historyHint: 'The last 20, until you close this page.',
  useArguments: 'Use these arguments',
};

/** Texts of the tool console, of tool results and of tool forms. */
export const tools = {
  title: 'Tools',
  lead: 'Run a tool and see its result.',
  result,
  authority,
  form,
  list,
  panel,
  run,
};

/** Texts of the approval of a tool call. */
const approval = {
  title: 'Allow this tool call?',
  tool: 'Tool',
  server: 'Server',
  text: 'This tool needs your approval. Exactly this will be sent:',
  arguments: 'Arguments',
  scrollToEnd: 'Scroll to the end to approve.',
  approve: 'Approve',
  deny: 'Deny',
  expiresIn: (time: string) => `Expires in ${time}`,
  expired: 'The approval request expired.',
  closed: 'The approval request is closed: it was answered elsewhere or it expired.',
};

/** Texts of a tool call, in the chat and in the tool console. */
export const call = {
  approval,
  openServer: 'Open server page',
  setUpServer: 'Set up server',
  progress: 'Progress',
  progressOf: (progress: string, total: string) => `${progress} of ${total}`,
};
