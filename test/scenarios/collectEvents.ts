export interface SseEvent {
  readonly event: string;
  readonly data: unknown;
}

/** All events of an answer, when it has ended. */
export async function collectEvents(response: Response): Promise<SseEvent[]> {
  const text = await response.text();
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('event: '))
    .map((frame) => {
      const [event = '', data = ''] = frame.split('\n');
      return {
        event: event.slice('event: '.length),
        data: JSON.parse(data.slice('data: '.length)) as unknown,
      };
    });
}
