/** A tool as its server describes it. */
export interface UpstreamTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
}

/** What a tool answered, whole: content of every kind, structured content, `isError`, `_meta`. */
export type UpstreamResult = Record<string, unknown>;

/** A live conversation with one MCP server. */
export interface Upstream {
  listTools(signal?: AbortSignal): Promise<UpstreamTool[]>;
  callTool(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<UpstreamResult>;
  /** Runs once, when the conversation ends for whatever reason. */
  onClose(listener: () => void): void;
  close(): Promise<void>;
}
