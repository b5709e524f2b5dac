import type { Reply } from './reply.ts';

/** The answer to one request of several: what is said in between has no place to go. */
export async function collectReply(work: (reply: Reply) => Promise<void>): Promise<string | undefined> {
  let responseText: string | undefined;
  await work({
    isStarted: false,
    canSendRequests: false,
    notify: noop,
    sendRequest: () => false,
    finish: (text) => {
      responseText = text;
    },
    abandon: noop,
    close: noop,
  });
  return responseText;
}

function noop(): void {
  // Nobody hears it.
}
