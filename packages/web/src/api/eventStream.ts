/** One event of a stream, with its data unread. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Cuts server-sent events out of pieces of text, wherever the network cut them. An event may be large and come in
 * hundreds of pieces: each is looked at once.
 */
export function createEventParser(): (chunk: string) => StreamEvent[] {
  /** Of an event whose end has not come. */
  let pending: string[] = [];
  /** What the end of an event may begin with. */
  let tail = '';
  return (chunk) => {
    pending.push(chunk);
    const recentText = tail + chunk;
    tail = recentText.slice(-3);
    if (!/\r?\n\r?\n/.test(recentText)) return [];
    const blocks = pending.join('').replaceAll('\r\n', '\n').split('\n\n');
    const rest = blocks.pop() ?? '';
    pending = [rest];
    tail = rest.slice(-3);
    return blocks.flatMap((block) => parseBlock(block) ?? []);
  };
}

function parseBlock(block: string): StreamEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trim();
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
  // A comment keeps the connection alive and says nothing.
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}

/** The events of an answer, one after the other, until it ends. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  const parse = createEventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Whoever stops reading, also because of what was read, ends the connection.
    await reader.cancel().catch(() => undefined);
    reader.releaseLock();
  }
}
