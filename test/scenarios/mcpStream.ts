import type { WireMessage } from './mcpClient.ts';

/** A stream of a response that is read while it is open. */
export interface OpenStream {
  readonly messages: readonly WireMessage[];
  /** Ids of the events, in order. */
  readonly ids: readonly string[];
  readonly commentCount: number;
  readonly isEnded: boolean;
  close(): void;
}

export function readStream(response: Response, abort = new AbortController()): OpenStream {
  const state = { messages: [] as WireMessage[], ids: [] as string[], commentCount: 0, isEnded: false };
  const read = async () => {
    const decoder = new TextDecoder();
    let buffered = '';
    for await (const chunk of response.body ?? []) {
      buffered += decoder.decode(chunk as Uint8Array, { stream: true });
      const events = buffered.split('\n\n');
      buffered = events.pop() ?? '';
      for (const event of events) handleEvent(event);
    }
  };
  const handleEvent = (event: string) => {
    for (const line of event.split('\n')) {
      if (line.startsWith(':')) state.commentCount += 1;
      if (line.startsWith('id: ')) state.ids.push(line.slice(4));
      if (line.startsWith('data: ') && line.length > 6) {
        state.messages.push(JSON.parse(line.slice(6)) as WireMessage);
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      state.isEnded = true;
    });
  return Object.assign(state, { close: () => abort.abort() });
}
