import type { ChatEvent, ChatEventName } from '@behalf/contracts';
import type { EventStream } from '../door/eventStream.ts';

type DataOf<N extends ChatEventName> = Extract<ChatEvent, { event: N }>['data'];

/** Tells the reader of an answer what happens. Settles when there is room for more; never rejects. */
export interface Tell {
  <N extends ChatEventName>(event: N, data: DataOf<N>): Promise<void>;
  /** Missed by a reader that does not keep up. */
  hint<N extends ChatEventName>(event: N, data: DataOf<N>): void;
}

export function createTell(events: Pick<EventStream, 'send' | 'hint'>): Tell {
  const tell = <N extends ChatEventName>(event: N, data: DataOf<N>) => events.send(event, data);
  return Object.assign(tell, {
    hint: <N extends ChatEventName>(event: N, data: DataOf<N>) => events.hint(event, data),
  });
}
