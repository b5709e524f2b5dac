/** Announcements for screen readers. */
const announce = {
  finished: (text: string) => (text === '' ? 'The answer is complete.' : `Answer: ${text}`),
  stopped: 'The answer was stopped.',
  failed: 'The answer failed.',
  approval: (server: string, tool: string) => `${tool} on ${server} needs your approval.`,
  connect: (server: string) => `Sign in to ${server} to continue.`,
};

/** Texts of the message composer. */
const composer = {
  label: 'Your message',
  placeholder: 'Ask anything',
  hint: 'Press Enter to send, Shift+Enter for a new line.',
  send: 'Send',
  stop: 'Stop',
  stopping: 'Stopping…',
  model: 'Model',
  tooLong: (most: string) => `Enter at most ${most} characters.`,
  noModel: 'No model is configured. You can still run tools.',
};

/** Texts of the server chooser. */
const chooser = {
  title: 'Tools for the model',
  allServers: 'All servers',
  noTools: 'No tools',
  someServers: (count: number, of: number) => `${count} of ${of} servers`,
  hint: 'The model can use the tools of the selected servers.',
  noServers: 'No servers yet.',
  goToServers: 'Go to servers',
  selectAll: 'All',
  selectNone: 'None',
  toolCount: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
  states: {
    connected: 'Connected',
    unreachable: 'Unreachable',
    needs_authorization: 'Needs sign-in',
    needs_configuration: 'Needs setup',
  },
};

/** Texts of a message. */
const message = {
  userHeading: 'You said',
  answerHeading: 'Answer',
  answerFrom: (model: string) => `Answer from ${model}`,
  working: 'Working…',
  copy: 'Copy answer',
  stopped: 'Stopped.',
  lengthLimit: 'The model reached its output limit.',
  tooManyToolCalls: 'Stopped after too many tool calls. Try a smaller request.',
  unfinishedTitle: 'This answer is incomplete',
  unfinishedText: 'The gateway stopped before the answer was complete. Send your message again.',
  emptyAnswer: 'The model returned an empty answer.',
  code: 'Code',
  codeIn: (language: string) => `Code in ${language}`,
  table: 'Table',
  taskDone: 'Done:',
  taskOpen: 'Not done:',
};

/** Texts of errors, and what to do. */
const trouble = {
  resend: 'Send again',
  editMessage: 'Edit message',
  notSent: 'Not sent',
  stopped: 'Stopped',
  withdrawnTitle: 'You stopped this message before the gateway responded',
  withdrawnText: 'The gateway may still have received it. Check the conversation list.',
  brokenTitle: 'The connection was lost',
  brokenText:
    'The conversation reloads when the gateway is reachable again. If the answer is incomplete, send your message again.',
  stopOtherAnswer: 'Stop the other answer',
  chooseModel: 'The selected model is no longer available. Choose another model and send again.',
  busy: 'Another window or device is waiting for an answer in this conversation. Wait for it, or stop it.',
  limit: 'Start a new chat, or delete conversations you no longer need.',
  modelRefused: 'Ask the operator to check the API key and the limits of the model.',
  waitAndResend: 'Wait a moment, then send again.',
  modelUnavailable: 'Send again later, or choose another model.',
};

/** Texts of a tool call. */
const call = {
  label: (server: string, tool: string) => `Tool call: ${tool} on ${server}`,
  states: {
    running: 'Running',
    waiting: 'Waiting for you',
    done: 'Done',
    failed: 'Failed',
    denied: 'Denied',
    cancelled: 'Canceled',
  },
  unknownOutcome: 'The call was stopped. The tool may have run.',
  denied: 'You denied this call. Nothing was sent.',
  resultDiscarded: 'The result was not stored because the answer is too large.',
  arguments: 'Arguments',
  noArguments: 'No arguments',
  result: 'Result',
  whatToDo: 'What to do:',
};

/** Texts of a required sign-in. */
const connect = {
  tryAgain: 'Try again',
  thenTryAgain: 'Then try again.',
  answerContinues: 'The answer continues automatically after you sign in.',
  resume: 'Continue',
  continueWithout: 'Continue without signing in',
};

/** Texts of the conversation list. */
const list = {
  title: 'Conversations',
  empty: 'Your conversations appear here. Only you can see them.',
  more: 'Show more',
  rename: (title: string) => `Rename ${title}`,
  delete: (title: string) => `Delete ${title}`,
  renameTitle: 'Rename conversation',
  titleLabel: 'Title',
  deleteTitle: 'Delete this conversation?',
  deleteText: (title: string) => `“${title}” and all its messages will be deleted. This cannot be undone.`,
  deleted: 'Conversation deleted',
  untitled: 'Untitled',
  groups: {
    today: 'Today',
    yesterday: 'Yesterday',
    week: 'Last 7 days',
    month: 'Last 30 days',
    older: 'Older',
  },
};

/** Texts of an empty conversation. */
const start = {
  title: 'How can I help?',
  firstTitle: 'Welcome',
  firstLead: 'Ask a question. The model can use the tools of your servers.',
  examplesTitle: 'Examples',
  examples: {
    echo: { title: 'Echo hello', text: 'Use the echo tool to say hello.' },
    sum: { title: 'Add two numbers', text: 'Use a tool to add 2 and 3.' },
    weather: { title: 'Show a table', text: 'What is the weather in Chicago? Use a tool.' },
  },
  useToolPrompt: (tool: string, server: string) => `Use ${tool} from ${server}`,
  useTool: (tool: string) => `Use ${tool}`,
  onServer: (server: string) => `on ${server}`,
  servers: 'Your servers',
  noServers: 'No servers yet. Add one, or ask an administrator to share one with you.',
  addServer: 'Add server',
  next: 'Next steps',
  steps: {
    server: { title: 'Add a server', text: 'Connect the tools that your users need.' },
    model: { title: 'Add a model', text: 'Users can then chat with a model that calls tools.' },
    people: { title: 'Invite people', text: 'Manage accounts and roles.' },
  },
};

/** Texts of the chat page without a model. */
const console = {
  title: 'Run a tool',
  lead: 'Chat requires a model, and none is configured. You can run every tool here.',
  howTitle: 'How to add a model',
  howText:
    'Add this to the configuration file, with the URL and models of an OpenAI-compatible API. Set the API key in the environment, then reload the configuration.',
  askOperator: 'To chat with a model, ask the operator to configure one.',
  snippetLabel: 'Model configuration',
  snippet: `endpoints:
  custom:
    - name: Local
      baseURL: http://127.0.0.1:11434/v1
      apiKey: \${MODEL_API_KEY:-none}
      models:
        default: [llama3.3]
`,
};

/** Texts of the chat. */
export const chat = {
  title: 'Chat',
  conversation: 'Conversation',
  jumpToLatest: 'Jump to latest',
  showEarlier: (count: number) => `Show ${count} earlier messages`,
  remoteAnswerTitle: 'Answer in progress',
  remoteAnswerText:
    'The answer was requested in another window, or the connection was lost. This page updates every few seconds.',
  notFoundTitle: 'Conversation not found',
  notFoundText: 'The chat does not exist, was deleted, or belongs to another user.',
  newChat: 'New chat',
  notAllowedTitle: 'Your role does not allow using servers',
  notAllowedText: 'Ask an administrator for access.',
  ...{ announce, composer, chooser, message, trouble, call, connect, list, start, console },
};
