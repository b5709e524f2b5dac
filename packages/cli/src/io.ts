/** All input and output of commands. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output: the result only. */
  out(text: string): void;
  /** Standard error: progress and errors. */
  err(text: string): void;
  readStdin(): Promise<string>;
  readFile(path: string): Promise<string>;
  /** Whether a user can answer prompts. */
  readonly isInteractive: boolean;
  readonly colors: { readonly out: boolean; readonly err: boolean };
  /** Reads a line from the user. */
  prompt(question: string): Promise<string>;
  /** False if no browser could be started. */
  openBrowser(url: string): Promise<boolean>;
  readonly fetch: typeof fetch;
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Aborts on Ctrl-C. */
  readonly interruptSignal: AbortSignal;
}
