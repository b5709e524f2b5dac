export function proseOf(markdown: string): string;
export function findInMarkdown(page: string, markdown: string): string[];
