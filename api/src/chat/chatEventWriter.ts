import type { ChatEvent, ChatEventName } from '@behalf/contracts';
import type { EventStream } from '../http/eventStream.ts';

type DataOf<N extends ChatEventName> = Extract<ChatEvent, { event: N }>['data'];

/** Tells the reader of an answer what happens. Settles when there is room for more; never rejects. */
export interface ChatEventWriter {
  <N extends ChatEventName>(event: N, data: DataOf<N>): Promise<void>;
  /** Missed by a reader that does not keep up. */
  writeIfReady<N extends ChatEventName>(event: N, data: DataOf<N>): void;
}

export function createChatEventWriter(events: Pick<EventStream, 'send' | 'sendIfReady'>): ChatEventWriter {
  const write = <N extends ChatEventName>(event: N, data: DataOf<N>) => events.send(event, data);
  return Object.assign(write, {
    writeIfReady: <N extends ChatEventName>(event: N, data: DataOf<N>) => events.sendIfReady(event, data),
  });
}
