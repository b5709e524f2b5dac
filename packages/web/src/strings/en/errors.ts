/** Errors that the browser detects. Errors of the gateway bring their own texts. */
export const errors = {
  offlineTitle: 'Can’t reach the gateway',
  offlineText: 'Check your network connection, then try again.',
  unreadableTitle: 'The response could not be read',
  unreadableText: 'A proxy may have answered instead of the gateway. Try again.',
  unexpectedTitle: 'Something went wrong',
  signInAgain: 'Sign in again to continue.',
  whatToDo: (action: string) => `What to do: ${action}`,
  incident: (id: string) => `Incident ${id}`,
  retryIn: (seconds: number) => `Try again in ${seconds} s.`,
};
