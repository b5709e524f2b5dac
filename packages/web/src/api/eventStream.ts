/** Server-sent event with unparsed data. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Creates a parser of server-sent events that accepts arbitrary chunks. An event may arrive in
 * hundreds of chunks, so each chunk is searched only once.
 */
export function createEventParser(): (chunk: string) => StreamEvent[] {
  /** Chunks of the incomplete event. */
  let pending: string[] = [];
  /** Last 3 characters: a delimiter can be split between chunks. */
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
  // A comment line only keeps the connection alive.
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}

/** Yields the events of a response until it ends. */
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
    // Closes the connection also if the consumer stops early or throws.
    await reader.cancel().catch(() => undefined);
    reader.releaseLock();
  }
}
