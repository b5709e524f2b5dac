/** A tool that asks first. */
const approval = {
  title: 'May this tool run?',
  tool: 'Tool',
  server: 'Server',
  text: 'This tool asks first. This is exactly what will be sent:',
  arguments: 'Arguments',
  unseen: 'Read the arguments to their end: then you can approve.',
  approve: 'Approve',
  deny: 'Deny',
  left: (time: string) => `Waits for another ${time}.`,
  over: 'The time to approve it is over.',
  gone: 'It does not wait any more: it was decided elsewhere, or its time is over.',
};

/** Words about a call of a tool, whoever makes it. */
export const call = {
  approval,
  toServer: 'Open the page of the server',
  values: 'Enter your values',
  progress: 'Progress',
  of: (progress: string, total: string) => `${progress} of ${total}`,
};
