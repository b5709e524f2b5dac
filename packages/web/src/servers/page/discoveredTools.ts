/** What the page shows of a tool. Its texts are the server's. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly asksFirst?: boolean;
}

/** The tools that a reinit answered with, as far as they are what we know. */
export function parseDiscoveredTools(tools: readonly unknown[]): ListedTool[] {
  return tools.flatMap((tool) => {
    const { name, title, description } = (tool ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string') return [];
    return [
      {
        name,
        ...(typeof title === 'string' && title !== '' && { title }),
        description: typeof description === 'string' ? description : '',
      },
    ];
  });
}
