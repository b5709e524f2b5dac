import type { Reply } from './reply.ts';

/** The answer to one request of several: what is said in between has no place to go. */
export async function collectReply(work: (reply: Reply) => Promise<void>): Promise<string | undefined> {
  let answer: string | undefined;
  await work({
    begun: false,
    takesRequests: false,
    notify: nothing,
    ask: () => false,
    finish: (text) => {
      answer = text;
    },
    abandon: nothing,
    close: nothing,
  });
  return answer;
}

function nothing(): void {
  // Nobody hears it.
}
