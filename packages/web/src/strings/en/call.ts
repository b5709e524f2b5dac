/** Texts of the approval of a tool call. */
const approval = {
  title: 'Allow this tool call?',
  tool: 'Tool',
  server: 'Server',
  text: 'This tool needs your approval. Exactly this will be sent:',
  arguments: 'Arguments',
  unseen: 'Scroll to the end to approve.',
  approve: 'Approve',
  deny: 'Deny',
  left: (time: string) => `Expires in ${time}`,
  over: 'The approval request expired.',
  gone: 'The approval request is closed: it was answered elsewhere or it expired.',
};

/** Texts of a tool call, in the chat and in the tool console. */
export const call = {
  approval,
  toServer: 'Open server page',
  values: 'Set up server',
  progress: 'Progress',
  of: (progress: string, total: string) => `${progress} of ${total}`,
};
