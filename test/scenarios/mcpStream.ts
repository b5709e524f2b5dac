import type { Message } from './mcpClient.ts';

/** A stream of a response that is read while it is open. */
export interface OpenStream {
  readonly messages: readonly Message[];
  /** Ids of the events, in order. */
  readonly ids: readonly string[];
  readonly comments: number;
  readonly ended: boolean;
  close(): void;
}

export function readStream(response: Response, closing = new AbortController()): OpenStream {
  const state = { messages: [] as Message[], ids: [] as string[], comments: 0, ended: false };
  const read = async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk as Uint8Array, { stream: true });
      const events = rest.split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) take(event);
    }
  };
  const take = (event: string) => {
    for (const line of event.split('\n')) {
      if (line.startsWith(':')) state.comments += 1;
      if (line.startsWith('id: ')) state.ids.push(line.slice(4));
      if (line.startsWith('data: ') && line.length > 6) {
        state.messages.push(JSON.parse(line.slice(6)) as Message);
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      state.ended = true;
    });
  return Object.assign(state, { close: () => closing.abort() });
}
