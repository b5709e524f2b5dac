/** Whether the page of the server has more to say about what went wrong. */
export function isServerError(code: string | undefined): boolean {
  return code?.startsWith('MCP_') === true && code !== 'MCP_ARGUMENTS_INVALID';
}
