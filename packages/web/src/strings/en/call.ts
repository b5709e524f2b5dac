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
