import type { ResponseSchema } from '../gateway/gatewayClient.ts';

export interface ToolCallResult {
  readonly json: unknown;
  readonly content: readonly unknown[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  /** The reason if the user must sign in to the server first. */
  readonly signIn: string | undefined;
}

/** The result of a tool. The server controls its content, so nothing is assumed about it. */
export const toolResultSchema: ResponseSchema<ToolCallResult> = {
  safeParse(value) {
    const fields = toFields(value);
    if (!Array.isArray(fields['content'])) return { success: false };
    const auth = toFields(toFields(fields['_meta'])['behalf/auth']);
    return {
      success: true,
      data: {
        json: value,
        content: fields['content'],
        structuredContent: fields['structuredContent'],
        isError: fields['isError'] === true,
        signIn: auth['code'] === 'needs_reauth' ? String(auth['reason']) : undefined,
      },
    };
  },
};

/** Formats a result for people: text as it is, other content by kind and size. */
export function formatToolResult({ content, structuredContent }: ToolCallResult): string {
  const blocks = content.map(formatBlock);
  if (blocks.length === 0 && structuredContent !== undefined)
    blocks.push(JSON.stringify(structuredContent, null, 2));
  return blocks.map((block) => `${block}\n`).join('');
}

function formatBlock(block: unknown): string {
  const { type, text, mimeType, data, uri, resource } = toFields(block);
  if (type === 'text' && typeof text === 'string') return text;
  const resourceFields = toFields(resource);
  if (type === 'resource' && typeof resourceFields['text'] === 'string') return resourceFields['text'];
  const size = typeof data === 'string' ? `, ${Math.floor((data.length * 3) / 4)} bytes` : '';
  const details = [mimeType ?? resourceFields['mimeType'], uri ?? resourceFields['uri']].filter(
    (part) => typeof part === 'string',
  );
  return `[${[typeof type === 'string' ? type : 'unknown', ...details].join(' ')}${size}; see it with --json]`;
}

function toFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
