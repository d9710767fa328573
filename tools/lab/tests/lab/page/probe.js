// SPDX-License-Identifier: GPL-2.0-only
/*
 * Put into a copy of trace.html by page.test: opens the timeline as a person does, notes what the
 * viewer draws and what it finds, and leaves it as text where --dump-dom shows it.
 */
"use strict";

(() => {
	const find = "%%find%%";
	const result = { drawn: [], found: "", errors: [], asked: [] };
	const fillText = CanvasRenderingContext2D.prototype.fillText;

	CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
		result.drawn.push([text, Math.round(x), Math.round(y), this.canvas.width]);
		return fillText.call(this, text, x, y, ...rest);
	};
	window.addEventListener("error", (event) => {
		if (event.message)
			result.errors.push(event.message);
	});
	document.addEventListener("securitypolicyviolation", (event) => {
		result.errors.push("policy: " + event.blockedURI);
	});

	const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

	/* The number of matches is beside the field. */
	async function search() {
		window.dispatchEvent(new KeyboardEvent("keydown", { key: "f", ctrlKey: true }));
		await pause(500);
		/* Another one filters the list of tracks. */
		const input = [...document.body.querySelectorAll("input")].find(
			(one) => !one.placeholder && one.type !== "file");
		input.value = find;
		input.dispatchEvent(new Event("input", { bubbles: true }));
		await pause(1000);
		result.found = document.body.innerText;
	}

	window.addEventListener("load", async () => {
		result.title = document.title;
		result.facts = document.getElementById("facts").innerText;
		document.getElementById("open").click();
		await pause(4000);
		result.drawn = [];
		window.dispatchEvent(new Event("resize"));
		await pause(1000);
		const drawn = result.drawn;
		result.shown = document.body.innerText;
		try {
			await search();
		} catch (error) {
			result.errors.push(String(error));
		}
		document.getElementById("back").click();
		result.back = document.getElementById("facts").innerText;
		result.drawn = drawn;
		result.asked = performance.getEntriesByType("resource").map((entry) => entry.name);
		const pre = document.createElement("pre");
		pre.id = "probe";
		pre.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(result))));
		document.documentElement.append(pre);
	});
})();
