/** What is read out by itself. */
const announce = {
  finished: (text: string) => (text === '' ? 'The answer is complete.' : `Answer: ${text}`),
  stopped: 'The answer was stopped.',
  failed: 'The answer could not be finished.',
  approval: (server: string, tool: string) => `${server} waits for your approval to run ${tool}.`,
  connect: (server: string) => `${server} needs you to sign in.`,
};

/** Where one writes. */
const composer = {
  label: 'Your message',
  placeholder: 'Ask something',
  hint: 'Enter sends, Shift+Enter begins a new line.',
  send: 'Send',
  stop: 'Stop',
  stopping: 'Stopping',
  model: 'Model',
  tooLong: (most: string) => `That is too long: at most ${most} characters.`,
  noModel:
    'No model is configured any more, so nothing can be added here. You can still run tools one by one.',
};

/** Which servers' tools the model sees. */
const chooser = {
  title: 'Tools the model may use',
  all: 'All servers',
  none: 'No tools',
  some: (count: number, of: number) => `${count} of ${of} servers`,
  hint: 'The model sees the tools of the servers that are ticked here.',
  empty: 'There are no servers for you yet.',
  toServers: 'Go to the servers',
  chooseAll: 'All',
  chooseNone: 'None',
  tools: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
  states: {
    connected: 'Connected',
    unreachable: 'Cannot be reached',
    needs_authorization: 'Needs a sign-in',
    needs_configuration: 'Needs your values',
  },
};

/** One message. */
const message = {
  you: 'You said',
  answer: 'Answer',
  answerOf: (model: string) => `Answer of ${model}`,
  working: 'Working on it',
  copy: 'Copy the answer',
  stopped: 'This answer was stopped before its end.',
  cut: 'The model reached its limit, so the answer ends here.',
  rounds: 'The model called tools again and again, so it was stopped. Ask it for a smaller step.',
  unfinishedTitle: 'This answer was not finished',
  unfinishedText: 'The gateway stopped while it was being written. Send your message again.',
  empty: 'The model gave no answer.',
  code: 'Code',
  codeIn: (language: string) => `Code in ${language}`,
  table: 'Table',
  done: 'Done:',
  open: 'Not done:',
};

/** When something went wrong, and what to do. */
const trouble = {
  again: 'Send again',
  edit: 'Edit the message',
  unsent: 'Not sent',
  stopped: 'Stopped',
  withdrawnTitle: 'You stopped this before the gateway answered',
  withdrawnText: 'The gateway may have kept it: then it is in the conversation, or in a new one in the list.',
  brokenTitle: 'The connection was lost',
  brokenText:
    'This is what had arrived. The conversation is read again as soon as the gateway answers; if the answer is not finished then, send your message again.',
  stop: 'Stop that answer',
  chooseModel: 'The model you chose is not offered any more. Choose another one below and send again.',
  busy: 'Another window or another device is waiting for an answer here. Wait for it, or stop it.',
  limit: 'Begin a new chat, or delete conversations you do not need any more.',
  modelRefused:
    'This is not about your message: ask the operator to check the key and the limits of the model.',
  wait: 'Wait a moment and send it again.',
  modelSilent: 'Send it again in a while, or choose another model.',
};

/** A call of a tool. */
const call = {
  label: (server: string, tool: string) => `Call of ${tool} on ${server}`,
  states: {
    running: 'Running',
    waiting: 'Waiting for you',
    done: 'Done',
    failed: 'Failed',
    denied: 'Denied',
    cancelled: 'Cancelled',
  },
  uncertain: 'It was stopped. Whether the tool ran is not known.',
  denied: 'You did not allow this call, so it was not made.',
  notKept: 'What it gave is not kept: the answer as a whole was too large.',
  arguments: 'Arguments',
  noArguments: 'No arguments',
  result: 'Result',
  whatToDo: 'What to do:',
};

/** After a sign-in that was missing. */
const connect = {
  again: 'Try again',
  afterwards: 'Try again afterwards.',
  held: 'The answer waits, and goes on by itself as soon as you have signed in.',
  goOn: 'Go on now',
  without: 'Go on without it',
};

/** The list at the side. */
const list = {
  title: 'Conversations',
  empty: 'What you talk about is kept here, for you alone.',
  more: 'Show more',
  rename: (title: string) => `Rename ${title}`,
  remove: (title: string) => `Delete ${title}`,
  renameTitle: 'Rename the conversation',
  name: 'Title',
  removeTitle: 'Delete this conversation?',
  removeText: (title: string) => `“${title}” and everything said in it is deleted. This cannot be undone.`,
  removed: 'The conversation was deleted.',
  untitled: 'Untitled',
  groups: {
    today: 'Today',
    yesterday: 'Yesterday',
    week: 'Last 7 days',
    month: 'Last 30 days',
    older: 'Older',
  },
};

/** Before anything was said. */
const start = {
  title: 'What shall we do?',
  firstTitle: 'Welcome',
  firstLead: 'Ask the model something, and it uses the tools of your servers for you.',
  try: 'Try one of these',
  tries: {
    echo: { title: 'Echo hello', text: 'Use the echo tool to say hello.' },
    sum: { title: 'Add two numbers', text: 'Use a tool to add 2 and 3.' },
    weather: { title: 'See a table', text: 'What is the weather in Chicago? Use a tool.' },
  },
  tryTool: (tool: string, server: string) => `Use the tool ${tool} of ${server}.`,
  tryToolTitle: (tool: string) => `Use ${tool}`,
  of: (server: string) => `of ${server}`,
  servers: 'What is connected',
  noServers: 'There are no servers for you yet. Add one, or ask an administrator to share one with you.',
  addServer: 'Add a server',
  next: 'Next steps',
  steps: {
    server: { title: 'Add a server', text: 'Connect the tools that your people need.' },
    model: { title: 'Add a model', text: 'With a model, people chat and it calls the tools.' },
    people: { title: 'Let people in', text: 'See who has an account, and what each role may do.' },
  },
};

/** The same page where no model is configured. */
const console = {
  title: 'Run a tool',
  lead: 'No model is configured, so there is no chat yet. Every tool can be run here by hand.',
  howTitle: 'How to add a model',
  howText:
    'Put this into the configuration file, with the address and the models of any OpenAI-compatible API. Set the key in the environment, then reload the configuration.',
  askOperator: 'To chat with a model, ask the operator to configure one.',
  snippetLabel: 'Configuration of a model',
  snippet: `endpoints:
  custom:
    - name: Local
      baseURL: http://127.0.0.1:11434/v1
      apiKey: \${MODEL_API_KEY:-none}
      models:
        default: [llama3.3]
`,
};

/** Words of the chat. */
export const chat = {
  title: 'Chat',
  conversation: 'Conversation',
  jump: 'Jump to the latest',
  earlier: (count: number) => `Show ${count} earlier messages`,
  elsewhereTitle: 'An answer is being written',
  elsewhereText:
    'It was begun in another window, or the connection to it was lost. What is kept of it appears here every few seconds.',
  notFoundTitle: 'There is no such conversation',
  notFoundText: 'It may have been deleted, or it belongs to somebody else.',
  newChat: 'Begin a new chat',
  notAllowedTitle: 'Your role does not allow using servers',
  notAllowedText: 'Ask an administrator for the permission to use them.',
  ...{ announce, composer, chooser, message, trouble, call, connect, list, start, console },
};
