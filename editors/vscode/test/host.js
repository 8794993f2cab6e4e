// What an editor shows of a theory with a mistake and of a theory in a Python string. Started by test/host with the address of a VS Code.
"use strict";
const puppeteer = require("puppeteer-core");

const PATIENCE = 120_000;

(async () => {
    const browser = await puppeteer.launch({ executablePath: process.env.CHROME || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.setViewport({ width: 1300, height: 900 });
    await page.goto(process.argv[2], { waitUntil: "domcontentloaded" });

    // Opens a file from the list at the left.
    const open = async (name) => {
        await page.waitForFunction((name) => [...document.querySelectorAll(".explorer-viewlet .monaco-list-row")].some((row) => row.textContent.includes(name)), {}, name);
        for (const row of await page.$$(".explorer-viewlet .monaco-list-row")) {
            if ((await row.evaluate((row) => row.textContent)).includes(name)) await row.click({ count: 2 });
        }
        await page.waitForFunction((name) => document.querySelector(".tab.active")?.textContent.includes(name), {}, name);
    };
    // VS Code gives a class to each colour, and colours a text a moment after showing it.
    const looksLike = (text, other) => page.waitForFunction((text, other) => {
        const colour = (text) => [...document.querySelectorAll(".view-line span span")].find((span) => span.textContent.includes(text))?.className;
        return colour(text) && colour(text) === colour(other) && colour(text) !== "mtk1";
    }, {}, text, other);

    await open("t.ltn");
    await page.waitForSelector(".squiggly-error");
    await looksLike("exists", "predicate");
    const place = await page.evaluate(() => {
        const span = [...document.querySelectorAll(".view-line span span")].find((span) => span.textContent.includes("exists"));
        const { x, y, width, height } = span.getBoundingClientRect();
        return [x + width / 2, y + height / 2];
    });
    await page.mouse.move(...place);
    await page.waitForFunction(() =>
        [...document.querySelectorAll(".monaco-hover-content")].some((hover) => hover.textContent.includes("log_mean_exp")));
    await page.keyboard.down("Control");
    await page.keyboard.down("Shift");
    await page.keyboard.press("m");
    await page.keyboard.up("Shift");
    await page.keyboard.up("Control");
    await page.waitForFunction(() => document.querySelector(".markers-panel")?.textContent.includes("did you mean `red`?"));

    await open("kb.py");
    await looksLike("forall", "predicate");
    await browser.close();
    console.log("VS Code shows the mistake, its hint, the hover and the colours");
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
