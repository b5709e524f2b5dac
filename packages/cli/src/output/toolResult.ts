import type { Shape } from '../gateway/gateway.ts';

export interface ToolResult {
  readonly whole: unknown;
  readonly content: readonly unknown[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  /** Why the user has to sign in at the server first. */
  readonly signIn: string | undefined;
}

/** What a tool gave back. Its server decides what stands in it, so nothing of it is taken for granted. */
export const readResult: Shape<ToolResult> = {
  safeParse(value) {
    const fields = fieldsOf(value);
    if (!Array.isArray(fields['content'])) return { success: false };
    const auth = fieldsOf(fieldsOf(fields['_meta'])['behalf/auth']);
    return {
      success: true,
      data: {
        whole: value,
        content: fields['content'],
        structuredContent: fields['structuredContent'],
        isError: fields['isError'] === true,
        signIn: auth['code'] === 'needs_reauth' ? String(auth['reason']) : undefined,
      },
    };
  },
};

/** For people: texts as they are, everything else by its kind and size. */
export function resultText({ content, structuredContent }: ToolResult): string {
  const blocks = content.map(blockText);
  if (blocks.length === 0 && structuredContent !== undefined)
    blocks.push(JSON.stringify(structuredContent, null, 2));
  return blocks.map((block) => `${block}\n`).join('');
}

function blockText(block: unknown): string {
  const { type, text, mimeType, data, uri, resource } = fieldsOf(block);
  if (type === 'text' && typeof text === 'string') return text;
  const inner = fieldsOf(resource);
  if (type === 'resource' && typeof inner['text'] === 'string') return inner['text'];
  const size = typeof data === 'string' ? `, ${Math.floor((data.length * 3) / 4)} bytes` : '';
  const what = [mimeType ?? inner['mimeType'], uri ?? inner['uri']].filter(
    (part) => typeof part === 'string',
  );
  return `[${[typeof type === 'string' ? type : 'unknown', ...what].join(' ')}${size}; see it with --json]`;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
