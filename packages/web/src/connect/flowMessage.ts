/** What the page at the end of a sign-in tells. It says that there is something to ask for, and decides nothing. */
export function isAboutFlow(data: unknown, flowId: string): boolean {
  if (typeof data !== 'object' || data === null) return false;
  const { type, flowId: told } = data as { type?: unknown; flowId?: unknown };
  return type === 'behalf.oauth' && told === flowId;
}
