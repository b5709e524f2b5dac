/** What the page shows of a tool. Its texts are the server's. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly asksFirst?: boolean;
}

/** The tools that a reinit answered with, as far as they are what we know. */
export function readFound(tools: readonly unknown[]): ShownTool[] {
  return tools.flatMap((tool) => {
    const { name, description } = (tool ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string') return [];
    return [{ name, description: typeof description === 'string' ? description : '' }];
  });
}
