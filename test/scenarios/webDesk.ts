import type { ScriptedTool } from '@behalf/testkit';

/** A dot of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A moment of silence, as short as one can be heard to last. */
const WAV = createSilence(800);

/** One channel of 8,000 samples in a second. */
function createSilence(sampleCount: number): string {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + sampleCount, 4);
  header.write('WAVEfmt ', 8);
  for (const [offset, value, size] of [
    [16, 16, 4],
    [20, 1, 2],
    [22, 1, 2],
    [24, 8_000, 4],
    [28, 8_000, 4],
    [32, 1, 2],
    [34, 8, 2],
  ] as const) {
    header.writeUIntLE(value, offset, size);
  }
  header.write('data', 36);
  header.writeUInt32LE(sampleCount, 40);
  return Buffer.concat([header, Buffer.alloc(sampleCount, 0x80)]).toString('base64');
}

/** A server's tools for the interface to show, and what they have seen. */
export interface DeskTools {
  readonly tools: readonly ScriptedTool[];
  readonly counts: { wiped: number; slow: number; cancelled: number };
  /** Lets calls of `slow` end. */
  release(): void;
}

export function createDeskTools(): DeskTools {
  const counts = { wiped: 0, slow: 0, cancelled: 0 };
  let release = (): void => undefined;
  let releasePromise = new Promise<void>((resolve) => (release = resolve));
  const tools: ScriptedTool[] = [
    {
      name: 'echo',
      title: 'Echo',
      description: 'Says what it is told',
      inputSchema: {
        type: 'object',
        properties: {
          text: { type: 'string', title: 'Text', description: 'What to say' },
          times: { type: 'integer', title: 'Times', minimum: 1, maximum: 5, default: 1 },
          tone: { type: 'string', title: 'Tone', enum: ['calm', 'loud'] },
        },
        required: ['text'],
      },
      annotations: { readOnlyHint: true },
      handler: ({ text, times, tone }) => {
        const repeated = tone === 'loud' ? String(text).toUpperCase() : String(text);
        return {
          content: [
            {
              type: 'text',
              text: Array(Number(times ?? 1))
                .fill(repeated)
                .join(' '),
            },
          ],
        };
      },
    },
    {
      name: 'slow',
      description: 'Takes as long as it is let, and tells how far it is',
      handler: async (_args, call) => {
        counts.slow += 1;
        call.progress(1, 4);
        const aborted = new Promise<void>((resolve) => {
          call.signal.addEventListener('abort', () => {
            counts.cancelled += 1;
            resolve();
          });
        });
        await Promise.race([releasePromise, aborted]);
        return { content: [{ type: 'text', text: 'done slowly' }] };
      },
    },
    {
      name: 'wipe',
      title: 'Wipe',
      description: 'Removes everything',
      inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
      annotations: { destructiveHint: true },
      handler: ({ place }) => {
        counts.wiped += 1;
        return { content: [{ type: 'text', text: `${String(place)} is empty` }] };
      },
    },
    {
      name: 'report',
      description: 'Gives one of each kind of content',
      handler: () => ({
        content: [
          { type: 'text', text: 'Three rows' },
          { type: 'image', data: PNG, mimeType: 'image/png' },
          { type: 'audio', data: WAV, mimeType: 'audio/wav' },
          { type: 'resource_link', uri: 'https://example.test/report', name: 'The whole report' },
        ],
        structuredContent: {
          rows: [
            { city: 'Oslo', degrees: 3 },
            { city: 'Rome', degrees: 18 },
          ],
        },
      }),
    },
    {
      name: 'lines',
      description: 'Gives two thousand lines',
      handler: () => ({
        content: [{ type: 'text', text: Array.from({ length: 2_000 }, (_, i) => `line ${i}`).join('\n') }],
      }),
    },
  ];
  return {
    tools,
    counts,
    release() {
      release();
      releasePromise = new Promise((resolve) => (release = resolve));
    },
  };
}
