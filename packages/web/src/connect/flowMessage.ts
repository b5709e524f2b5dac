/** What the page at the end of a sign-in tells. It says that there is something to ask for, and decides nothing. */
export function isFlowMessage(data: unknown, flowId: string): boolean {
  if (typeof data !== 'object' || data === null) return false;
  const { type, flowId: messageFlowId } = data as { type?: unknown; flowId?: unknown };
  return type === 'behalf.oauth' && messageFlowId === flowId;
}
