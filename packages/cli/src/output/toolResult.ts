import type { ResponseSchema } from '../gateway/gatewayClient.ts';

export interface ToolCallResult {
  readonly json: unknown;
  readonly content: readonly unknown[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  /** Why the user has to sign in at the server first. */
  readonly signIn: string | undefined;
}

/** What a tool gave back. Its server decides what stands in it, so nothing of it is taken for granted. */
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

/** For people: texts as they are, everything else by its kind and size. */
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
