/** What the browser itself has to say. Errors of the gateway bring their own words. */
export const errors = {
  offlineTitle: 'The gateway cannot be reached',
  offlineText: 'Check your network. Nothing was changed.',
  unreadableTitle: 'The answer could not be read',
  unreadableText: 'Something between you and the gateway answered instead of it. Try again.',
  unexpectedTitle: 'Something went wrong',
  whatToDo: (action: string) => `What to do: ${action}`,
  incident: (id: string) => `Incident ${id}`,
  retryIn: (seconds: number) => `Try again in ${seconds} s.`,
};
