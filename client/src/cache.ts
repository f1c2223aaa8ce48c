// Responses with an ETag. A request is sent each time, but its response is empty (304) if nothing has changed.

export type CachedResponse = { readonly etag: string; readonly body: unknown; readonly length: number };

/** Characters of JSON, of all responses together. */
const MAX_LENGTH = 4_000_000;

/** What was not used for the longest time is removed first. */
export class ResponseCache {
  readonly #responses = new Map<string, CachedResponse>();
  #length = 0;

  get(url: string): CachedResponse | undefined {
    const found = this.#responses.get(url);
    if (found !== undefined) {
      this.#responses.delete(url);
      this.#responses.set(url, found);
    }
    return found;
  }

  set(url: string, response: CachedResponse): void {
    this.#remove(url);
    this.#responses.set(url, response);
    this.#length += response.length;
    for (const [oldest] of this.#responses) {
      if (this.#length <= MAX_LENGTH) break;
      this.#remove(oldest);
    }
  }

  #remove(url: string): void {
    this.#length -= this.#responses.get(url)?.length ?? 0;
    this.#responses.delete(url);
  }
}
